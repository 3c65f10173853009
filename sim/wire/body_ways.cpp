#include "sim/wire/body_ways.hpp"

namespace margay::sim {

namespace {

// The first bodies of each way touch fresh pages and are left out of the means.
constexpr std::uint32_t kWarmUp = 3;
constexpr std::uint32_t kEnough = 8;
constexpr double kWeight = 0.25;  // of the newest sample
// A sample this many times the mean was interrupted; it counts as this much.
constexpr double kOutlier = 4;
// A preference changes only for a gain that noise does not make.
constexpr double kGain = 0.9;
// Between two bodies that are read, the sender waits for the answer before it offers the next; of that the receiver
// sees nothing (measured: 0.2 to 0.4 us).
constexpr double kReadingExtraNs = 300;
// Of this many bodies one goes the way that is not preferred, so that the receiver's figures stay true.
constexpr std::uint32_t kTryEach = 32;

}  // namespace

bool BodyTimes::end(std::uint64_t now_ns) {
  const std::size_t which = body_class(length_);
  Class& sizes = classes_[which];
  Way& way = reading_ ? sizes.reading : sizes.ring;
  if (way.samples < kEnough) ++way.samples;
  if (way.samples <= kWarmUp || length_ == 0) return false;
  double sample =
      (static_cast<double>(now_ns - began_ns_) + (reading_ ? kReadingExtraNs : 0)) / static_cast<double>(length_);
  if (way.samples == kWarmUp + 1) {
    way.ns_per_byte = sample;
  } else {
    if (sample > kOutlier * way.ns_per_byte) sample = kOutlier * way.ns_per_byte;
    way.ns_per_byte += kWeight * (sample - way.ns_per_byte);
  }
  if (sizes.ring.samples < kEnough || sizes.reading.samples < kEnough) return false;
  const BodyPreference before = preference(preferences_, which);
  const bool reading_gains = sizes.reading.ns_per_byte < kGain * sizes.ring.ns_per_byte;
  const bool ring_gains = sizes.ring.ns_per_byte < kGain * sizes.reading.ns_per_byte;
  BodyPreference after = before == BodyPreference::unknown ? BodyPreference::ring : before;
  if (reading_gains) after = BodyPreference::reading;
  if (ring_gains) after = BodyPreference::ring;
  if (after == before) return false;
  preferences_ &= ~(std::uint64_t{3} << (2 * which));
  preferences_ |= static_cast<std::uint64_t>(after) << (2 * which);
  return true;
}

bool BodyWayChooser::reading(std::uint64_t length, BodyPreferences preferences) {
  const std::size_t which = body_class(length);
  const std::uint32_t number = sent_[which]++;
  switch (preference(preferences, which)) {
    case BodyPreference::ring:
      return number % kTryEach == 0;
    case BodyPreference::reading:
      return number % kTryEach != 0;
    default:
      return number % 2 != 0;
  }
}

}  // namespace margay::sim
