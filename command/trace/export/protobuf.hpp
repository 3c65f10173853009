// An encoder for protocol buffers, as far as a trace needs it: numbers, texts, nested messages.
// Written by hand: the encoding is five rules, and the library with its generated code would be a dependency of the
// installed command. Source: "Encoding" in the protocol buffers' documentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace margay::command {

// One message under construction. Fields are appended in the order of the calls.
class ProtobufMessage {
 public:
  // An unsigned number of variable length. `field`: the field's number in the .proto file, as below.
  ProtobufMessage& number(std::uint32_t field, std::uint64_t value) {
    key(field, kVarint);
    varint(value);
    return *this;
  }
  // A number of eight bytes, lowest first.
  ProtobufMessage& fixed64(std::uint32_t field, std::uint64_t value) {
    key(field, kFixed64);
    for (unsigned shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xffU);
    return *this;
  }
  // A text, or bytes.
  ProtobufMessage& text(std::uint32_t field, std::string_view value) {
    key(field, kLengthDelimited);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  // A nested message.
  ProtobufMessage& message(std::uint32_t field, const ProtobufMessage& value) { return text(field, value.bytes_); }

  // The encoded message, without a preceding length. The reference is to this object's buffer, which the next field
  // changes.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  // Wire types, the lower three bits of a field's key.
  static constexpr std::uint32_t kVarint = 0;
  static constexpr std::uint32_t kFixed64 = 1;
  static constexpr std::uint32_t kLengthDelimited = 2;

  void key(std::uint32_t field, std::uint32_t type) { varint(std::uint64_t{field} << 3U | type); }
  // Seven bits in each byte, lowest first; the top bit is set if more bytes follow.
  void varint(std::uint64_t value) {
    constexpr std::uint64_t kMore = 0x80;
    for (; value >= kMore; value >>= 7U) bytes_ += static_cast<char>((value & 0x7fU) | kMore);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace margay::command
