#include "libraries/zipcode/classes.hpp"

#include <deque>
#include <mutex>

#include "libraries/zipcode/error.hpp"

namespace margay::zipcode::core {

namespace {

// The classes of the process, by number from 1 on. Ranks of one process share them.
struct Classes {
  std::mutex mutex;
  std::deque<MailClass> all{
      {.title = "Y", .box_bytes = sizeof(std::uint16_t)},
      {.title = "Z", .box_bytes = sizeof(std::int32_t)},
      {.title = "L", .box_bytes = 3 * sizeof(std::int32_t)},
      {.title = "G1", .box_bytes = sizeof(std::int32_t), .dimensions = 1},
      {.title = "G2", .box_bytes = 2 * sizeof(std::int32_t), .dimensions = 2},
      {.title = "G3", .box_bytes = 3 * sizeof(std::int32_t), .dimensions = 3},
  };
};
Classes& classes() {
  static auto* const all = new Classes();
  return *all;
}

}  // namespace

const MailClass* find_class(int number) {
  Classes& known = classes();
  const std::lock_guard guard(known.mutex);
  if (number < 1 || static_cast<std::size_t>(number) > known.all.size()) return nullptr;
  return &known.all[static_cast<std::size_t>(number) - 1];
}

std::uint32_t match_bits_of(const MailClass& traits, Bytes box) {
  if (traits.dimensions < 2) return bits_of(box);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(traits.dimensions); ++i) {
    std::uint32_t coordinate = 0;
    std::memcpy(&coordinate, box.data() + i * sizeof coordinate, sizeof coordinate);
    const unsigned count = kGridBits[static_cast<std::size_t>(traits.dimensions)][i];
    bits = bits << count | (coordinate & ((std::uint32_t{1} << count) - 1));
  }
  return bits;
}

int add_class(const Zip_mail_class& added) {
  if (added.title == nullptr || added.send == nullptr || added.receive == nullptr)
    fail("a class needs a title and the functions send and receive");
  if (added.names < 1 || added.names > static_cast<int>(kNamesMost)) {
    fail("class \"" + std::string(added.title) + "\" has names of " + std::to_string(added.names) + " ints; use 1 to " +
         std::to_string(kNamesMost));
  }
  if (added.box_bytes < 0 || added.box_bytes > static_cast<int>(kBoxMost)) {
    fail("class \"" + std::string(added.title) + "\" has a PO Box of " + std::to_string(added.box_bytes) +
         " bytes; use 0 to " + std::to_string(kBoxMost));
  }
  Classes& known = classes();
  const std::lock_guard guard(known.mutex);
  if (known.all.size() == kClassesMost) fail("there are " + std::to_string(kClassesMost) + " classes already");
  known.all.push_back({.title = added.title,
                       .box_bytes = static_cast<std::size_t>(added.box_bytes),
                       .names = added.names,
                       .send = added.send,
                       .receive = added.receive,
                       .extra = added.extra});
  return static_cast<int>(known.all.size());
}

}  // namespace margay::zipcode::core
