// Requests that a layer above the device carries out, as MPI_Isendrecv's (MPI 4.0, 3.10): a send and a receive.
#pragma once

#include <memory>
#include <string>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/request.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

// A user request that a layer above the device carries out.

// Under the process lock. `complete` says that end() may be called.
struct OwnRequest : Request {
  explicit OwnRequest(RequestKind which) { kind = which; }
  OwnRequest(const OwnRequest&) = delete;
  OwnRequest& operator=(const OwnRequest&) = delete;
  virtual ~OwnRequest() = default;

  // What the request says: fills `status` (never null) but for MPI_ERROR, returns the error class, and in `words` why,
  // if it is not a lost process. Requires: complete.
  [[nodiscard]] virtual int outcome(MpiRank& rank, MPI_Status* status, std::string& words) = 0;
  // The same, by the call that ends it.
  [[nodiscard]] virtual int end(MpiRank& rank, MPI_Status* status, std::string& words) {
    return outcome(rank, status, words);
  }
  // Whether what these return came from a function of the program's: it is told as it is.
  [[nodiscard]] virtual bool errors_are_the_programs() const { return false; }
  // MPI_Cancel. The error class, and in `words` why.
  [[nodiscard]] virtual int cancel(MpiRank& /*rank*/, std::string& /*words*/) { return MPI_SUCCESS; }
  // The user gives it up: MPI_Request_free of an active one. From here on it deletes itself when it is over. Returns as
  // cancel().
  [[nodiscard]] virtual int give_up(MpiRank& rank, std::string& words) = 0;
  // A persistent one becomes active.
  virtual void start(MpiRank& /*rank*/) {}
  // A persistent, inactive one is freed.
  virtual void retire() { delete this; }
};

class SendReceive final : public OwnRequest, private RequestOwner {
 public:
  // Holds a reference to the communicator. `copy`: what the send reads, kept until both are over; may be null.
  SendReceive(Device& device, Communicator& communicator, std::unique_ptr<std::byte[]> copy);
  ~SendReceive() override;
  // The two, started. Once.
  void begin(Request& incoming, Request& outgoing);

  // The receive's status; the first error of the two.
  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& words) override;
  [[nodiscard]] int give_up(MpiRank& rank, std::string& words) override;

 private:
  void part_completed(const Request& part) override;

  Device& device_;
  std::unique_ptr<std::byte[]> copy_;
  int under_way_ = 2;
  bool given_up_ = false;
  int error_ = MPI_SUCCESS;
  std::string words_;  // of a truncated receive
};

}  // namespace margay::mpi_adi
