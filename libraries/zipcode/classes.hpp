// Classes of mail: names of processes, and their PO Boxes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libraries/zipcode/envelope.hpp"
#include "libraries/zipcode/library.hpp"
#include "margay/zipcode.h"

namespace margay::zipcode::core {

// The traits of a class of mail. Built-in classes have no functions.
struct MailClass {
  std::string title;
  std::size_t box_bytes = 0;
  int dimensions = 0;  // of a grid
  int names = 0;       // of a class of the program
  Zip_resolve* send = nullptr;
  Zip_resolve* receive = nullptr;
  void* extra = nullptr;
};

// The class of a number; nullptr: unknown. Addresses are stable.
[[nodiscard]] const MailClass* find_class(int number);
// Adds a class, and returns its number. Throws Error.
int add_class(const Zip_mail_class& mail_class);
// The context_ids of a mailer of a grid of so many dimensions, with its children.
[[nodiscard]] constexpr std::uint32_t context_ids(int dimensions) {
  constexpr std::uint32_t kOwn = 2, kWithLines = kOwn + 2 * kOwn, kWithPlanes = kOwn + 3 * kWithLines;
  return dimensions == 3 ? kWithPlanes : dimensions == 2 ? kWithLines : kOwn;
}
static_assert(context_ids(0) == 2 && context_ids(2) == 6 && context_ids(3) == 20);

// The match bits of a PO Box of this class: bits_of(), or the coordinates of a grid, which traces show.
[[nodiscard]] std::uint32_t match_bits_of(const MailClass& traits, Bytes box);

// A PO Box that is being written, of shorts or ints.
struct Box {
  std::array<std::byte, kBoxMost> bytes{};
  std::size_t size = 0;
  template <typename Value>
  Box& add(Value value) {
    std::memcpy(bytes.data() + size, &value, sizeof value);
    size += sizeof value;
    return *this;
  }
  [[nodiscard]] Bytes view() const { return {bytes.data(), size}; }
};

}  // namespace margay::zipcode::core
