// The sending side of partitioned communication.
#pragma once

#include "mpi_adi/request/partitioned.hpp"

namespace margay::mpi_adi {

class PartitionedSend final : public Partitioned {
 public:
  static constexpr RequestKind kKind = RequestKind::partitioned_send;
  // Tells the receiver about the channel. The message outlives this object.
  PartitionedSend(MpiRank& rank, const PartitionedCall& call);

  [[nodiscard]] bool sends() const override { return true; }
  void start(MpiRank& rank) override;
  // Whether the program has said that it is. Requires: active.
  [[nodiscard]] bool ready(int partition) const { return ready_[static_cast<std::size_t>(partition)]; }
  // Its message leaves when all partitions of it are ready. Requires: active, not ready.
  void make_ready(int partition);
  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& words) override;
  [[nodiscard]] int end(MpiRank& rank, MPI_Status* status, std::string& words) override;

 private:
  void part_completed(const Request& part) override { message_completed(part); }
  // The partitions of a message: [first, last).
  [[nodiscard]] std::uint64_t first_of(std::uint64_t message) const { return message * per_message_; }
  [[nodiscard]] std::uint64_t last_of(std::uint64_t message) const;

  std::uint64_t per_message_;  // partitions
  std::uint64_t messages_;
  std::uint64_t channel_ = 0;
  std::vector<bool> ready_;               // by partition
  std::vector<std::uint64_t> not_ready_;  // partitions, by message
};

}  // namespace margay::mpi_adi
