// Upper-layer requests: user requests that a layer above the device carries out, for example the request of
// MPI_Isendrecv (MPI 4.0, 3.10) for a send and a receive.
#pragma once

#include <memory>
#include <string>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/request.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

// The base of these requests: the interface through which MPI_Wait, MPI_Test, MPI_Cancel and MPI_Request_free handle
// all of them. Under the process lock. `complete` means that end() may be called.
struct UpperLayerRequest : Request {
  // `which`: a kind after RequestKind::sent, which marks the request as an UpperLayerRequest
  // (Request::is_of_upper_layer).
  explicit UpperLayerRequest(RequestKind which) { kind = which; }
  UpperLayerRequest(const UpperLayerRequest&) = delete;
  UpperLayerRequest& operator=(const UpperLayerRequest&) = delete;
  virtual ~UpperLayerRequest() = default;

  // The result: fills `status` (never nullptr) except for MPI_ERROR, returns the error class, and describes the error
  // in `text` unless a process is lost. Requires: complete.
  [[nodiscard]] virtual int outcome(MpiRank& rank, MPI_Status* status, std::string& text) = 0;
  // The same, for the call that ends the request.
  [[nodiscard]] virtual int end(MpiRank& rank, MPI_Status* status, std::string& text) {
    return outcome(rank, status, text);
  }
  // Whether the errors of outcome(), end(), cancel() and give_up() come from functions of the program, and are returned
  // unchanged.
  [[nodiscard]] virtual bool has_program_errors() const { return false; }
  // MPI_Cancel. Returns the error class, and describes it in `text`.
  [[nodiscard]] virtual int cancel(MpiRank& /*rank*/, std::string& /*text*/) { return MPI_SUCCESS; }
  // The program frees the active request (MPI_Request_free); the request then deletes itself when it ends. Returns as
  // cancel().
  [[nodiscard]] virtual int give_up(MpiRank& rank, std::string& text) = 0;
  // Starts a persistent request (MPI_Start). Requires: inactive.
  virtual void start(MpiRank& /*rank*/) {}
  // Frees a persistent, inactive request (MPI_Request_free).
  virtual void retire() { delete this; }
};

// A request for a send and a receive, complete when both are complete.
class SendReceive final : public UpperLayerRequest, private ParentRequest {
 public:
  // Takes a reference to the communicator. `copy`: the memory that the send reads, kept until this object is destroyed;
  // may be nullptr.
  SendReceive(Device& device, Communicator& communicator, std::unique_ptr<std::byte[]> copy);
  ~SendReceive() override;
  // Takes the two started requests as its parts. Call once.
  void begin(Request& incoming, Request& outgoing);

  // The receive's status, and the first error of the two.
  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& text) override;
  [[nodiscard]] int give_up(MpiRank& rank, std::string& text) override;

 private:
  void part_completed(const Request& part) override;

  Device& device_;
  std::unique_ptr<std::byte[]> copy_;
  int incomplete_parts_ = 2;  // parts that are not complete
  bool given_up_ = false;
  int error_ = MPI_SUCCESS;
  std::string text_;  // of a truncated receive
};

}  // namespace margay::mpi_adi
