// A send or a receive under way: what MPI_Request names.
#pragma once

#include <cstdint>

namespace margay::mpi_adi {

struct Communicator;

// Those after the first three a layer above carries out (OwnRequest); the device never has one in its hands.
enum class RequestKind : std::uint8_t {
  send,
  receive,
  sent,  // a send that was over when it began: all such have one request in common (Device::start_send)
  send_receive,
  partitioned_send,
  partitioned_receive,
  generalized,
  collective,
  one_sided,
};

struct Request;

// Who made a request as a part of something greater (Device::give_to), and is told when it is complete.
struct RequestOwner {
  RequestOwner() = default;
  RequestOwner(const RequestOwner&) = delete;
  RequestOwner& operator=(const RequestOwner&) = delete;
  // Under the process lock, by the owner or by the coprocessor, in the middle of progress: may start requests. `part`
  // goes back to the device afterwards.
  virtual void part_completed(const Request& part) = 0;
  // For reports: the tag that the program gave, of a part whose own one is `tag`.
  [[nodiscard]] virtual int program_tag(int tag) const { return tag; }

 protected:
  ~RequestOwner() = default;
};

// The public face of a request; the protocols' own parts are in the derived SendRequest and ReceiveRequest. From the
// device's pools; addresses are stable.
struct Request {
  RequestKind kind = RequestKind::send;
  bool complete = false;
  bool cancelled = false;
  bool detached = false;                 // nobody waits: goes back to its pool when it is complete
  int error_class = 0;                   // MPI_SUCCESS, MPI_ERR_TRUNCATE, ...
  int source = 0;                        // receive: rank in the communicator
  int tag = 0;                           // receive: the message's
  std::uint64_t bytes = 0;               // receive: bytes saved in the buffer
  std::uint64_t sequence = 0;            // the message's number in its pair, where a trace recorded; 0: not known
  Communicator* communicator = nullptr;  // holds a reference
  RequestOwner* owner = nullptr;         // of a part: told when it is complete

  // An OwnRequest (mpi_adi/request).
  [[nodiscard]] bool is_own() const { return kind > RequestKind::sent; }
};

}  // namespace margay::mpi_adi
