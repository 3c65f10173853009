// The interface of libmargay_rmi.so for the header-only front of RMI: room in the aggregation buffer of a destination,
// and the objects of this node. Declarations; the library defines them.
//
// A request takes two calls, with its writing in between (request.hpp):
//
//   std::span<std::byte> room = writer.reserve(24);   // at least 24 bytes, mostly far more
//   ...                                               // write `used` bytes, or reserve() again for more
//   writer.commit(used);                              // the request is part of the buffer; may send it
//
// Without commit() nothing was written: an exception between the two leaves its requests as they were. Between them the
// caller makes no other call of RMI, because that may send the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <typeinfo>

namespace margay::rmi {

// Where the result of a method goes: the room of a reply. The room has any size; a reply that does not fit asks for
// more. A method that throws after a part was written begins the reply anew with reserve(), and only commit() makes it
// valid.
//
// Virtual, because the functor that writes the reply is found by a table and cannot be a template of the sink; a
// request without a reply never calls it.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  // Room of at least `least` bytes, aligned to kPackedAlignment, until commit() or the next reserve(). What was written
  // before is lost. May throw std::bad_alloc.
  [[nodiscard]] virtual std::span<std::byte> reserve(std::size_t least) = 0;
  // The first `used` bytes of the room are the whole reply.
  virtual void commit(std::size_t used) = 0;
};

namespace core {

// An object of this node that other nodes may name, or a null address: with a type, it was removed. The caller of
// rmi_object owns the object.
struct ObjectEntry {
  void* address = nullptr;               // of the object as a `*type`
  const std::type_info* type = nullptr;  // the static type that it was registered with
};

class Buffers;
class Outbox;

// Writes requests into the aggregation buffer of one destination (paper, 6.3). The common case is inline, and is a
// comparison and two additions for each request; only a full buffer calls the library. Owned by the library, from
// start() to stop(). Each thread of a node has writers of its own.
class Writer {
 public:
  // Room of at least `least` bytes, aligned to kPackedAlignment, until commit() or the next reserve(). It is all that
  // is free in the buffer, so that a request of unknown size is packed in one pass. A request larger than the buffer
  // gets a buffer of its own. May send the buffer, and then, outside of a method, serves other nodes. Throws `error` if
  // the wait for the destination fails because a node is lost, and inside a method or while the program holds an
  // rmi_monitor if too many bytes queue (MARGAY_RMI_QUEUE).
  [[nodiscard]] std::span<std::byte> reserve(std::size_t least) {
    if (static_cast<std::size_t>(end_ - next_) >= least) [[likely]]
      return {next_, end_};
    return refill(least);
  }
  // The first `used` bytes of the room are a request. Sends the buffer if it has reached the aggregation factor, and
  // then throws as reserve().
  void commit(std::size_t used) {
    next_ += used;
    if (--left_ == 0) [[unlikely]]
      full();
  }

 private:
  friend class Buffers;
  friend class Outbox;

  // Sends or queues the buffer and continues with an empty one of `least` bytes or more.
  std::span<std::byte> refill(std::size_t least);
  // The buffer has as many requests as the aggregation factor: sends it, or executes the requests of the node to
  // itself.
  void full();

  // Where the next request begins, and the end of the room. Both null: no buffer is open.
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::uint32_t left_ = 0;  // requests until the aggregation factor is reached
};

}  // namespace core
}  // namespace margay::rmi
