// A request: a send or a receive under way, the object that an MPI_Request names.
#pragma once

#include <cstdint>

namespace margay::mpi_adi {

struct Communicator;

// The kinds of requests. The kinds after `sent` are requests of a layer above the device (UpperLayerRequest).
enum class RequestKind : std::uint8_t {
  send,                 // a SendRequest
  receive,              // a ReceiveRequest
  sent,                 // a send that was complete at its start; all share one request (Device::start_send)
  send_receive,         // of MPI_Isendrecv: a send and a receive (request/upper_layer_request)
  partitioned_send,     // of MPI_Psend_init (request/partitioned)
  partitioned_receive,  // of MPI_Precv_init
  generalized,          // of MPI_Grequest_start (request/generalized)
  collective,           // a nonblocking or persistent collective call (collectives/select/call_task)
  one_sided,            // a request-based access to a window, such as MPI_Rput (mpi/one_sided)
};

struct Request;

// A parent request: it starts requests as its parts (Device::give_to), and is notified when each is complete.
struct ParentRequest {
  ParentRequest() = default;
  ParentRequest(const ParentRequest&) = delete;
  ParentRequest& operator=(const ParentRequest&) = delete;
  // Called when a part completes: under the process lock, by the owner or by the coprocessor, in the middle of
  // progress. It may start requests, but must not wait. `part` returns to the device's pool afterwards.
  virtual void part_completed(const Request& part) = 0;
  // The tag that the program gave, for a part whose own tag is `tag`; for reports. By default both are the same.
  [[nodiscard]] virtual int program_tag(int tag) const { return tag; }

 protected:
  ~ParentRequest() = default;
};

// The public part of a request. The derived SendRequest and ReceiveRequest contain the protocols' parts; the device's
// pools own them, and their addresses are stable. An UpperLayerRequest belongs to the layer above. The fields of a
// completed request contain its result.
struct Request {
  // Set when a request is taken from its pool, or made.
  RequestKind kind = RequestKind::send;
  // Read by the program's waits and tests. complete() sets it for the device's requests; an UpperLayerRequest sets it
  // itself.
  bool complete = false;
  // The request was cancelled, and is complete without a message (MPI_Test_cancelled).
  bool cancelled = false;
  bool detached = false;                 // released before completion: returns to its pool when it completes
  int error_class = 0;                   // MPI_SUCCESS, MPI_ERR_TRUNCATE, MPIX_ERR_PROC_FAILED, ...
  int source = 0;                        // receive: rank in the communicator
  int tag = 0;                           // receive: the message's tag
  std::uint64_t bytes = 0;               // receive: bytes saved in the buffer
  std::uint64_t sequence = 0;            // the message's number in its pair, while a trace records; 0: unknown
  Communicator* communicator = nullptr;  // counted in its references; nullptr in the pool
  ParentRequest* owner = nullptr;        // the parent request, notified at completion; nullptr: none

  // Whether it is an UpperLayerRequest (mpi_adi/request).
  [[nodiscard]] bool is_of_upper_layer() const { return kind > RequestKind::sent; }
};

}  // namespace margay::mpi_adi
