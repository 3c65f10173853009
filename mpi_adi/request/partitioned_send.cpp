#include "mpi_adi/request/partitioned_send.hpp"

#include <algorithm>

#include "mpi_adi/abi/status.hpp"

namespace margay::mpi_adi {

namespace {

// A setup on its way; gone with its message.
struct SentSetup final : RequestOwner {
  explicit SentSetup(const PartitionedSetup& told) : setup(told) {}
  void part_completed(const Request& /*part*/) override { delete this; }
  [[nodiscard]] int program_tag(int tag) const override { return user_tag_of_setup(tag); }
  PartitionedSetup setup;

 private:
  ~SentSetup() = default;
};

std::uint64_t divide_up(std::uint64_t whole, std::uint64_t part) {
  return (whole + part - 1) / part;
}

}  // namespace

PartitionedSend::PartitionedSend(MpiRank& rank, const PartitionedCall& call) : Partitioned(kKind, rank, call) {
  const auto all = static_cast<std::uint64_t>(call.partitions);
  per_message_ = std::max<std::uint64_t>(divide_up(all, kPartitionMessagesMax), 1);
  messages_ = divide_up(all, per_message_);
  if (call.peer == MPI_PROC_NULL) return;
  channel_ = rank.next_partition_channel();
  tell_trace(channel_, call.communicator->rank());
  auto* const sent =
      new SentSetup(PartitionedSetup{channel_, messages_, per_message_ * partition_bytes(), total_bytes()});
  Request* const request = device_.start_send({SendMode::standard, &sent->setup, sizeof sent->setup, &bytes_, call.peer,
                                               partition_setup_tag(call.tag), call.communicator, Context::collective});
  device_.give_to(*sent, *request);
}

std::uint64_t PartitionedSend::last_of(std::uint64_t message) const {
  return std::min(first_of(message + 1), static_cast<std::uint64_t>(call_.partitions));
}

void PartitionedSend::start(MpiRank& /*rank*/) {
  ready_.assign(static_cast<std::size_t>(call_.partitions), false);
  not_ready_.resize(messages_);
  for (std::uint64_t at = 0; at < messages_; ++at) not_ready_[at] = last_of(at) - first_of(at);
  begin_round(messages_);
}

void PartitionedSend::make_ready(int partition) {
  ready_[static_cast<std::size_t>(partition)] = true;
  const std::uint64_t message = static_cast<std::uint64_t>(partition) / per_message_;
  if (--not_ready_[message] > 0) return;
  const auto count = static_cast<std::int64_t>(last_of(message) - first_of(message)) * call_.count;
  device_.give_to(*this,
                  *device_.start_send({SendMode::standard, address(first_of(message)), count, call_.type, call_.peer,
                                       partition_tag(channel_, message), call_.communicator, Context::collective}));
}

int PartitionedSend::end(MpiRank& rank, MPI_Status* status, std::string& words) {
  active_ = false;
  return outcome(rank, status, words);
}

int PartitionedSend::outcome(MpiRank& /*rank*/, MPI_Status* status, std::string& /*words*/) {
  empty_status(status);
  return error_;
}

}  // namespace margay::mpi_adi
