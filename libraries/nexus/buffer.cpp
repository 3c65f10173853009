// Buffers of include/margay/nexus/buffer.hpp, except put() and get() of startpoints (startpoint.cpp).
#include "margay/nexus/buffer.hpp"

#include "margay/nexus/error.hpp"

namespace margay::nexus {
namespace {

constexpr std::size_t kHeadBytes = 5;

// Bytes of an element; 0: an unknown type.
std::size_t size_of(Type type) {
  switch (type) {
    case Type::int8:
    case Type::uint8:
    case Type::boolean:
    case Type::byte:
    case Type::text:
    case Type::startpoint:
      return 1;
    case Type::int16:
    case Type::uint16:
      return 2;
    case Type::int32:
    case Type::uint32:
    case Type::float32:
      return 4;
    case Type::int64:
    case Type::uint64:
    case Type::float64:
      return 8;
  }
  return 0;
}

}  // namespace

const char* name(Type type) {
  switch (type) {
    case Type::int8:
      return "int8";
    case Type::int16:
      return "int16";
    case Type::int32:
      return "int32";
    case Type::int64:
      return "int64";
    case Type::uint8:
      return "uint8";
    case Type::uint16:
      return "uint16";
    case Type::uint32:
      return "uint32";
    case Type::uint64:
      return "uint64";
    case Type::float32:
      return "float32";
    case Type::float64:
      return "float64";
    case Type::boolean:
      return "boolean";
    case Type::byte:
      return "byte";
    case Type::text:
      return "text";
    case Type::startpoint:
      return "startpoint";
  }
  return "unknown type";
}

Buffer Buffer::view(std::span<const std::byte> bytes) {
  Buffer buffer;
  buffer.view_ = bytes;
  buffer.is_view_ = true;
  return buffer;
}

Buffer::Buffer(const Buffer& other) : own_(other.bytes().begin(), other.bytes().end()), next_(other.next_) {}

Buffer& Buffer::operator=(const Buffer& other) {
  if (this != &other) *this = Buffer(other);
  return *this;
}

Buffer& Buffer::append(Type type, std::size_t count, const void* base, std::size_t bytes) {
  if (is_view_) fail("Buffer::put() into the buffer of a request; put into a copy of it");
  if (count > kElementsMost) {
    fail("Buffer::put() of " + std::to_string(count) + " elements; put at most " + std::to_string(kElementsMost) +
         " at a time");
  }
  const std::size_t at = own_.size();
  const auto count_32 = static_cast<std::uint32_t>(count);
  own_.resize(at + kHeadBytes + bytes);
  own_[at] = static_cast<std::byte>(type);
  std::memcpy(own_.data() + at + 1, &count_32, sizeof count_32);
  if (bytes != 0) std::memcpy(own_.data() + at + kHeadBytes, base, bytes);
  return *this;
}

Buffer::Head Buffer::head() const {
  const std::span<const std::byte> left = bytes().subspan(next_);
  if (left.empty()) fail("Buffer::get() at the end of the buffer; the sender has put fewer elements");
  std::uint32_t count = 0;
  if (left.size() < kHeadBytes) fail("Buffer::get(): the buffer is damaged: its last put is cut off");
  std::memcpy(&count, left.data() + 1, sizeof count);
  const auto type = static_cast<Type>(left[0]);
  const std::size_t size = size_of(type);
  if (size == 0)
    fail("Buffer::get(): the buffer is damaged: unknown type " + std::to_string(std::to_integer<unsigned>(left[0])));
  const std::size_t bytes = size * count;
  if (bytes > left.size() - kHeadBytes) {
    fail("Buffer::get(): the buffer is damaged: " + std::to_string(count) + " elements of type " + name(type) +
         ", but " + std::to_string(left.size() - kHeadBytes) + " bytes follow");
  }
  return {type, count, bytes};
}

Type Buffer::next_type() const {
  return head().type;
}

std::size_t Buffer::next_count() const {
  return head().count;
}

Buffer::Run Buffer::take(Type type, std::size_t count, bool exact) {
  const Head next = head();
  if (next.type != type || (exact && next.count != count)) {
    const std::string wanted =
        exact ? std::to_string(count) + " of " + name(type) : std::string("some of ") + name(type);
    fail("Buffer::get() of " + wanted + ", but the sender has put " + std::to_string(next.count) + " of " +
         name(next.type));
  }
  const Run run{bytes().data() + next_ + kHeadBytes, next.count};
  next_ += kHeadBytes + next.bytes;
  return run;
}

}  // namespace margay::nexus
