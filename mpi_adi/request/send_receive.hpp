// A send and a receive behind one request (MPI 4.0, 3.10: MPI_Isendrecv).
#pragma once

#include <memory>

#include "mpi_adi/request/own_request.hpp"

namespace margay::mpi_adi {

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
