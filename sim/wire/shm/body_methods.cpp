#include "sim/wire/shm/body_methods.hpp"

namespace margay::sim {

namespace {

// The first bodies of each method touch fresh pages and are left out of the means.
constexpr std::uint32_t kWarmUp = 2;
// The number of samples of each method, including the warm-up's, that a preference requires.
constexpr std::uint32_t kEnough = 6;
constexpr double kWeight = 0.25;  // weight of the newest sample in the mean
// A sample above this multiple of the mean counts as this multiple of the mean, because its copy was probably
// interrupted.
constexpr double kOutlier = 4;
// A preference changes only if the cost falls below this share, a gain that is larger than noise.
constexpr double kGain = 0.9;
// The ring is preferred if a byte through the ring costs the receiver less than this share of the cost of a byte that
// it reads. The share is below 1 for two reasons. Through the ring the sender copies each byte as well. And if a body
// that is read is long enough, the two sides share it, so that the receiver copies only half of it. kRingShareShort
// holds for the first size class.
constexpr double kRingShare = 0.5;
constexpr double kRingShareShort = 0.7;
// A method is tried with this many consecutive bodies, because the first body after a change of method is not counted.
constexpr std::uint32_t kTryInARow = 2;
// Among this many bodies, kTryInARow use the method that is not preferred, so that the receiver's figures stay current.
constexpr std::uint32_t kTryEach = 256;
// The ring is not tried with longer bodies, because beside busy programs each ringful would wait for a turn of both
// sides.
constexpr std::uint64_t kTriedBytesMax = std::uint64_t{2} << 20U;

}  // namespace

bool BodyTimes::end() {
  if (!last_was_reading_ || first_of_its_method_ || bytes_ == 0) return false;
  Class& sizes = classes_[which_];
  Method& method = *last_was_reading_ ? sizes.reading : sizes.ring;
  if (method.samples < kEnough) ++method.samples;
  if (method.samples <= kWarmUp) return false;
  double sample = static_cast<double>(ns_) / static_cast<double>(bytes_);
  if (method.samples == kWarmUp + 1) {
    method.ns_per_byte = sample;
  } else {
    if (sample > kOutlier * method.ns_per_byte) sample = kOutlier * method.ns_per_byte;
    method.ns_per_byte += kWeight * (sample - method.ns_per_byte);
  }
  if (sizes.ring.samples < kEnough || sizes.reading.samples < kEnough) return false;
  const BodyPreference before = preference(preferences_, which_);
  const double bound = (which_ == 0 ? kRingShareShort : kRingShare) * sizes.reading.ns_per_byte;
  // The first preference is reading, unless the ring gains enough. A later one changes only if the other method does.
  BodyPreference after = before == BodyPreference::unknown ? BodyPreference::reading : before;
  if (bound < kGain * sizes.ring.ns_per_byte) after = BodyPreference::reading;
  if (sizes.ring.ns_per_byte < kGain * bound) after = BodyPreference::ring;
  if (after == before) return false;
  preferences_ &= ~(std::uint64_t{3} << (2 * which_));
  preferences_ |= static_cast<std::uint64_t>(after) << (2 * which_);
  return true;
}

bool BodyMethodChooser::reading(std::uint64_t length, BodyPreferences preferences) {
  const std::size_t which = body_class(length);
  if (length > kTriedBytesMax && preference(preferences, which) != BodyPreference::ring) return true;
  const std::uint32_t number = sent_[which]++;
  switch (preference(preferences, which)) {
    case BodyPreference::ring:
      return number % kTryEach < kTryInARow;
    case BodyPreference::reading:
      return number % kTryEach >= kTryInARow;
    default:
      return number / kTryInARow % 2 == 0;
  }
}

}  // namespace margay::sim
