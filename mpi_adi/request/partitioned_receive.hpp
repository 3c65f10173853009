// The receiving side of partitioned communication: the messages are the sender's, the partitions this side's own.
#pragma once

#include <memory>

#include "mpi_adi/request/partitioned.hpp"

namespace margay::mpi_adi {

class PartitionedReceive final : public Partitioned {
 public:
  static constexpr RequestKind kKind = RequestKind::partitioned_receive;
  // Awaits the channel that matches. Where the datatype has gaps, messages land in memory of their own.
  PartitionedReceive(MpiRank& rank, const PartitionedCall& call);

  [[nodiscard]] bool sends() const override { return false; }
  void start(MpiRank& rank) override;
  // Whether the program may read that partition. Requires: active.
  [[nodiscard]] bool arrived(int partition);
  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& words) override;
  [[nodiscard]] int end(MpiRank& rank, MPI_Status* status, std::string& words) override;
  void retire() override;

 private:
  void part_completed(const Request& part) override;
  // The channel is known, the round has begun: receives for all of its messages.
  void post();
  void put_in_place(std::uint64_t partition);
  [[nodiscard]] bool staged() const { return staging_ != nullptr; }
  [[nodiscard]] bool here(std::uint64_t from, std::uint64_t to) const;

  PartitionedSetup setup_;
  Request* matching_ = nullptr;  // the receive of the setup, while it is under way
  bool matched_ = false;
  int failed_ = MPI_SUCCESS;  // the matching
  bool retired_ = false;
  std::unique_ptr<std::byte[]> staging_;
  std::vector<bool> message_here_;
  std::vector<bool> in_place_;  // by partition, when staged
};

}  // namespace margay::mpi_adi
