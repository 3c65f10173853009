#include "mpi_adi/request/partitioned.hpp"

#include <algorithm>

#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/device/trace_definitions.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::mpi_adi {

Partitioned::Partitioned(RequestKind which, MpiRank& rank, const PartitionedCall& call)
    : UpperLayerRequest(which), device_(rank.device()), bytes_(*rank.handles().datatype(MPI_BYTE)), call_(call) {
  communicator = call.communicator;
}

int Partitioned::cancel(MpiRank& /*rank*/, std::string& text) {
  text = "a partitioned request cannot be cancelled";
  return MPI_ERR_REQUEST;
}

void Partitioned::define_partitions(std::uint64_t channel, int sender) const {
  sim::Recorder& recorder = device_.kernel().recorder();
  if (!recorder.on()) return;
  const portals::MatchBits first =
      envelope_bits(partition_tag(channel, 0), sender, call_.communicator->collective_context);
  define_in_trace(recorder, PartitionsDefinition{.first = first,
                                                 .sends = sends(),
                                                 .tag = call_.tag,
                                                 .partitions = call_.partitions,
                                                 .count = call_.count,
                                                 .type = *call_.type});
}

void Partitioned::begin_round(std::uint64_t messages) {
  // The request is active from its start to its end, even while no message is under way.
  active_ = true;
  error_ = MPI_SUCCESS;
  incomplete_messages_ = messages;
  // Without messages the round is complete at once.
  complete = messages == 0;
}

void Partitioned::count_complete(const Request& message) {
  if (error_ == MPI_SUCCESS) error_ = message.error_class;
  complete = --incomplete_messages_ == 0;
}

namespace {

// A setup message's body, deleted when its send is complete: the request may be freed earlier.
struct SentSetup final : ParentRequest {
  explicit SentSetup(const PartitionedSetup& given) : setup(given) {}
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
  // Each message has as few partitions as possible, so that it leaves as early as possible.
  const auto all = static_cast<std::uint64_t>(call.partitions);
  per_message_ = std::max<std::uint64_t>(divide_up(all, kPartitionMessagesMax), 1);
  messages_ = divide_up(all, per_message_);
  // MPI_PROC_NULL needs no setup; messages to it complete by themselves.
  if (call.peer == MPI_PROC_NULL) return;
  channel_ = rank.next_partition_channel();
  define_partitions(channel_, call.communicator->rank());
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
  // The request is persistent: at the beginning of each round no partition is ready.
  ready_.assign(static_cast<std::size_t>(call_.partitions), false);
  not_ready_.resize(messages_);
  for (std::uint64_t at = 0; at < messages_; ++at) not_ready_[at] = last_of(at) - first_of(at);
  begin_round(messages_);
}

void PartitionedSend::make_ready(int partition) {
  ready_[static_cast<std::size_t>(partition)] = true;
  const std::uint64_t message = static_cast<std::uint64_t>(partition) / per_message_;
  // The message leaves with the last of its partitions.
  if (--not_ready_[message] > 0) return;
  const auto count = static_cast<std::int64_t>(last_of(message) - first_of(message)) * call_.count;
  device_.give_to(*this,
                  *device_.start_send({SendMode::standard, address(first_of(message)), count, call_.type, call_.peer,
                                       partition_tag(channel_, message), call_.communicator, Context::collective}));
}

int PartitionedSend::end(MpiRank& rank, MPI_Status* status, std::string& text) {
  active_ = false;
  return outcome(rank, status, text);
}

int PartitionedSend::outcome(MpiRank& /*rank*/, MPI_Status* status, std::string& /*text*/) {
  empty_status(status);
  return error_;
}

PartitionedReceive::PartitionedReceive(MpiRank& rank, const PartitionedCall& call) : Partitioned(kKind, rank, call) {
  // Messages contain ranges of packed bytes. The bytes of a datatype with gaps are not consecutive in the buffer, so
  // such messages are received into staging memory.
  if (!call.type->dense() && total_bytes() > 0) {
    staging_ = std::make_unique_for_overwrite<std::byte[]>(total_bytes());
  }
  if (call.peer == MPI_PROC_NULL) {
    matched_ = true;  // no message will arrive
    return;
  }
  // Posted in MPI_Precv_init, so that setups match in the order of these calls (MPI 4.0, 4.2).
  matching_ = device_.start_receive({&setup_, sizeof setup_, &bytes_, call.peer, partition_setup_tag(call.tag),
                                     call.communicator, Context::collective});
  device_.give_to(*this, *matching_);
}

void PartitionedReceive::start(MpiRank& /*rank*/) {
  in_place_.assign(staged() ? static_cast<std::size_t>(call_.partitions) : 0, false);
  message_here_.clear();
  begin_round(1);  // not complete before the channel is known
  if (matched_) post();
}

void PartitionedReceive::part_completed(const Request& part) {
  if (!matched_) {
    // The setup's receive completes before every receive of data, because data is received only when the channel is
    // known.
    matching_ = nullptr;
    // If the program freed the request before it was matched, only the setup's receive still refers to it.
    if (retired_) {
      delete this;
      return;
    }
    matched_ = true;
    failed_ = part.error_class;
    // If the setup's receive failed, there are no messages, and the round completes with that error.
    if (failed_ != MPI_SUCCESS) {
      setup_ = {};
    } else {
      define_partitions(setup_.channel, call_.peer);
    }
    // The program may have started a round before the setup arrived.
    if (active_) post();
    return;
  }
  // The tag contains the message's number, because messages complete in any order.
  message_here_[partition_message_of(part.tag)] = true;
  bytes += part.bytes;
  count_complete(part);
}

void PartitionedReceive::post() {
  // Replaces the round of one message that start() began, because the number of messages is known now.
  begin_round(setup_.messages);
  error_ = failed_;
  bytes = 0;
  message_here_.assign(setup_.messages, false);
  std::byte* const base = staged() ? staging_.get() : static_cast<std::byte*>(call_.buffer);
  for (std::uint64_t message = 0; message < setup_.messages; ++message) {
    const std::uint64_t from = std::min(message * setup_.message_bytes, total_bytes());
    // If the sender has more bytes than this side has room for, the receives end with MPI_ERR_TRUNCATE.
    const std::uint64_t room = std::min(setup_.message_bytes, total_bytes() - from);
    const CheckedReceive receive{base + from,        static_cast<std::int64_t>(room),        &bytes_,
                                 call_.peer,         partition_tag(setup_.channel, message), call_.communicator,
                                 Context::collective};
    device_.give_to(*this, *device_.start_receive_of(receive, *call_.type));
  }
}

bool PartitionedReceive::here(std::uint64_t from, std::uint64_t to) const {
  if (complete) return true;
  if (message_here_.empty()) return false;  // the channel is unknown
  // An empty partition has arrived as soon as the channel is known.
  if (from == to || setup_.message_bytes == 0) return true;
  const std::uint64_t last = std::min((to - 1) / setup_.message_bytes + 1, setup_.messages);
  for (std::uint64_t message = from / setup_.message_bytes; message < last; ++message) {
    if (!message_here_[message]) return false;
  }
  return true;
}

bool PartitionedReceive::arrived(int partition) {
  const auto at = static_cast<std::uint64_t>(partition);
  if (!here(at * partition_bytes(), (at + 1) * partition_bytes())) return false;
  if (staged()) put_in_place(at);
  return true;
}

void PartitionedReceive::put_in_place(std::uint64_t partition) {
  // At most once in a round, because the program may write to a partition after MPI_Parrived has reported it.
  if (in_place_[partition] || error_ != MPI_SUCCESS) return;
  in_place_[partition] = true;
  Pieces pieces;
  const portals::Region to = pieces.to_receive(address(partition), call_.count, *call_.type);
  portals::copy(to, portals::Region(staging_.get() + partition * partition_bytes(), to.bytes()));
}

int PartitionedReceive::outcome(MpiRank& /*rank*/, MPI_Status* status, std::string& text) {
  if (error_ == MPI_ERR_TRUNCATE) {
    text = "the partitioned send from rank " + std::to_string(call_.peer) + " with tag " + std::to_string(call_.tag) +
           " has " + std::to_string(setup_.total_bytes) + " bytes, and the receive's buffer " +
           std::to_string(total_bytes());
  }
  if (call_.peer == MPI_PROC_NULL) {
    proc_null_status(status);
  } else {
    fill_status(status, call_.peer, call_.tag, bytes);
  }
  return error_;
}

int PartitionedReceive::end(MpiRank& rank, MPI_Status* status, std::string& text) {
  if (staged() && call_.peer != MPI_PROC_NULL && setup_.messages > 0) {
    // Partitions that MPI_Parrived did not ask for are put in place at the end.
    for (std::uint64_t at = 0; at < in_place_.size(); ++at) put_in_place(at);
    // After a truncation the buffer has only the partitions that MPI_Parrived put there.
    if (error_ != MPI_SUCCESS)
      bytes = partition_bytes() * static_cast<std::uint64_t>(std::ranges::count(in_place_, true));
  }
  active_ = false;
  return outcome(rank, status, text);
}

void PartitionedReceive::retire() {
  if (matching_ == nullptr) {
    delete this;
    return;
  }
  // The setup may be arriving in this object. So the completion of the setup's receive deletes the object, perhaps
  // within cancel().
  retired_ = true;
  device_.cancel(*matching_);
}

}  // namespace margay::mpi_adi
