// The interface of libmargay_rmi.so for the header-only front of RMI: room in the aggregation buffer of a destination,
// and the objects of this node. Declarations; the library defines them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <typeinfo>

namespace margay::rmi {

// Where the result of a method goes: the room of a reply. The room has any size; a reply that does not fit asks for
// more.
//
// Virtual, because the functor that writes the reply is found by a table and cannot be a template of the sink; a
// request without a reply never calls it.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  // Room of at least `least` bytes, aligned to kPackedAlignment, until commit() or the next reserve().
  [[nodiscard]] virtual std::span<std::byte> reserve(std::size_t least) = 0;
  // The first `used` bytes of the room are the whole reply.
  virtual void commit(std::size_t used) = 0;
};

namespace core {

// An object of this node that other nodes may name, or a null address: with a type, it was removed.
struct ObjectEntry {
  void* address = nullptr;               // of the object as a `*type`
  const std::type_info* type = nullptr;  // the static type that it was registered with
};

// The object that was registered with this id and not removed since.
[[nodiscard]] ObjectEntry find_object(std::uint32_t id);

class Buffers;
class Outbox;

// Writes requests into the aggregation buffer of one destination (paper, 6.3). One thread at a time.
class Writer {
 public:
  // Room of at least `least` bytes, aligned to kPackedAlignment, until commit() or the next reserve(). All that is free
  // in the buffer, so that a request of unknown size is packed in one pass. A request larger than the buffer gets one
  // of its own. Throws `error` if the destination is gone.
  [[nodiscard]] std::span<std::byte> reserve(std::size_t least) {
    if (static_cast<std::size_t>(end_ - next_) >= least) [[likely]]
      return {next_, end_};
    return refill(least);
  }
  // The first `used` bytes of the room are a request. Sends the buffer if it reached the aggregation factor.
  void commit(std::size_t used) {
    next_ += used;
    if (--left_ == 0) [[unlikely]]
      full();
  }

 private:
  friend class Buffers;
  friend class Outbox;

  // Sends the buffer and continues with the other of the two, or with one for a request of `least` bytes.
  std::span<std::byte> refill(std::size_t least);
  // Sends the buffer because it has as many requests as the aggregation factor.
  void full();

  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::uint32_t left_ = 0;  // requests until the aggregation factor is reached
};

}  // namespace core
}  // namespace margay::rmi
