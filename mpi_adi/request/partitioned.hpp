// Partitioned communication (MPI 4.0, 4.2): the common part, and the requests of sender and receiver. A setup message
// makes a channel once. Each round is then a fixed number of messages, which are matched by their tags.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/request/upper_layer_request.hpp"

namespace margay::mpi_adi {

// The arguments of MPI_Psend_init and MPI_Precv_init, checked by the binding.
struct PartitionedCall {
  void* buffer = nullptr;
  int partitions = 0;
  std::int64_t count = 0;  // elements in each partition
  // The handle's UserRequest has a reference to the type.
  Datatype* type = nullptr;
  int peer = 0;  // rank in the communicator, or MPI_PROC_NULL
  int tag = 0;
  Communicator* communicator = nullptr;
};

// The body of the setup message of MPI_Psend_init: the division of each round into messages. Each message has
// `message_bytes` bytes; the last may have fewer.
struct PartitionedSetup {
  std::uint64_t channel = 0;  // chosen by the sender; encoded in the tags of the data messages
  std::uint64_t messages = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t total_bytes = 0;
};

// The tags of partitioned messages, in the communicator's collective context. The upper quarter of that context's tags
// is reserved for them:
//
//   31 30 29 28                              0
//   | 1 1  0 | the user's tag: 29              |  a setup
//   | 1 1  1 | channel: 19 | message: 10       |  data
//
// Several partitions share a message if there are more than kPartitionMessagesMax. Message number 1023 is never used,
// because with the last channel its tag would be MPI_ANY_TAG. A rank uses a channel number again after
// kPartitionChannels further calls of MPI_Psend_init.
inline constexpr std::uint64_t kPartitionChannels = 1U << 19;
// The tag of a setup. Requires: is_user_tag(tag).
[[nodiscard]] constexpr int partition_setup_tag(int tag) {
  return static_cast<int>(0xc000'0000U | static_cast<std::uint32_t>(tag));
}
// The tag of a message.
[[nodiscard]] constexpr int partition_tag(std::uint64_t channel, std::uint64_t message) {
  const std::uint64_t low = (channel % kPartitionChannels) << kPartitionMessageBits | message;
  return static_cast<int>(0xe000'0000U | static_cast<std::uint32_t>(low));
}
// The inverses.
[[nodiscard]] constexpr int user_tag_of_setup(int tag) {
  return tag & kUserTagMax;
}
// Requires: a data tag.
[[nodiscard]] constexpr std::uint64_t partition_message_of(int tag) {
  return static_cast<std::uint32_t>(tag) & kPartitionMessagesMax;
}
static_assert(partition_tag(kPartitionChannels - 1, kPartitionMessagesMax - 1) != MPI_ANY_TAG);
static_assert(static_cast<std::uint32_t>(partition_setup_tag(kUserTagMax)) < 0xe000'0000U);
static_assert(user_tag_of_setup(partition_setup_tag(kUserTagMax - 1)) == kUserTagMax - 1);

// One side of a partitioned operation: a persistent request, each round of which consists of several messages. Under
// the process lock.
class Partitioned : public UpperLayerRequest, protected ParentRequest {
 public:
  // This side's number of partitions.
  [[nodiscard]] int partitions() const { return call_.partitions; }
  // Whether it was started, and has not ended.
  [[nodiscard]] bool active() const { return active_; }
  // Whether this is the sending side.
  [[nodiscard]] virtual bool sends() const = 0;

  // Always an error (MPI 4.0, 4.2).
  [[nodiscard]] int cancel(MpiRank& rank, std::string& text) override;
  // Never called, because the binding rejects MPI_Request_free of an active partitioned request.
  [[nodiscard]] int give_up(MpiRank& /*rank*/, std::string& /*text*/) override { return MPI_SUCCESS; }

 protected:
  Partitioned(RequestKind which, MpiRank& rank, const PartitionedCall& call);
  ~Partitioned() override = default;

  [[nodiscard]] int program_tag(int /*tag*/) const override { return call_.tag; }
  // Bytes of data in a partition, without the gaps of the datatype.
  [[nodiscard]] std::uint64_t partition_bytes() const {
    return static_cast<std::uint64_t>(call_.count) * call_.type->size;
  }
  [[nodiscard]] std::uint64_t total_bytes() const {
    return partition_bytes() * static_cast<std::uint64_t>(call_.partitions);
  }
  // Names the channel's tags in the trace. `sender`: the sender's rank in the communicator.
  void define_partitions(std::uint64_t channel, int sender) const;
  // The address of partition `at`.
  [[nodiscard]] std::byte* address(std::uint64_t at) const {
    // Computed with integers, because the buffer may be MPI_BOTTOM, a null pointer.
    const std::int64_t offset = static_cast<std::int64_t>(at) * call_.count * call_.type->extent;
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(call_.buffer) + offset);
  }
  // Begins a round of `messages` messages.
  void begin_round(std::uint64_t messages);
  // Counts a message of the round as complete, and keeps the first error.
  void count_complete(const Request& message);

  Device& device_;
  // The datatype of setups and of received messages; sent messages have the program's datatype. Received messages are
  // bytes, because sender and receiver may divide the data differently.
  Datatype& bytes_;  // MPI_BYTE
  PartitionedCall call_;
  bool active_ = false;                    // between MPI_Start and the end of the round
  int error_ = MPI_SUCCESS;                // the first error of the round's messages
  std::uint64_t incomplete_messages_ = 0;  // messages of this round that are not complete
};

// The sending side.
class PartitionedSend final : public Partitioned {
 public:
  static constexpr RequestKind kKind = RequestKind::partitioned_send;
  // Chooses a channel, and sends its setup to the receiver. The setup message may outlive this object.
  PartitionedSend(MpiRank& rank, const PartitionedCall& call);

  [[nodiscard]] bool sends() const override { return true; }
  void start(MpiRank& rank) override;
  // Whether the program has marked the partition ready. Requires: active.
  [[nodiscard]] bool ready(int partition) const { return ready_[static_cast<std::size_t>(partition)]; }
  // Marks a partition ready. A message is sent when the last of its partitions is ready. Requires: active, not ready.
  void make_ready(int partition);
  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& text) override;
  [[nodiscard]] int end(MpiRank& rank, MPI_Status* status, std::string& text) override;

 private:
  // Each part is a message of the present round.
  void part_completed(const Request& part) override { count_complete(part); }
  // The partitions of a message: [first, last).
  [[nodiscard]] std::uint64_t first_of(std::uint64_t message) const { return message * per_message_; }
  [[nodiscard]] std::uint64_t last_of(std::uint64_t message) const;

  // Partitions in a message; 1, unless there are more than kPartitionMessagesMax.
  std::uint64_t per_message_;
  // Messages in a round.
  std::uint64_t messages_;
  // The channel's number, unique among the latest kPartitionChannels of this rank.
  std::uint64_t channel_ = 0;
  // The state of the present round; start() resets both vectors.
  std::vector<bool> ready_;               // by partition
  std::vector<std::uint64_t> not_ready_;  // number of partitions that are not ready, by message
};

// The receiving side. The sender divides the data into messages, this side into partitions; the two divisions may
// differ.
class PartitionedReceive final : public Partitioned {
 public:
  static constexpr RequestKind kKind = RequestKind::partitioned_receive;
  // Posts a receive for the setup of the matching channel. If the datatype has gaps, messages are received into staging
  // memory of this object.
  PartitionedReceive(MpiRank& rank, const PartitionedCall& call);

  // See Partitioned and UpperLayerRequest for the functions below.
  [[nodiscard]] bool sends() const override { return false; }
  void start(MpiRank& rank) override;
  // Whether the partition has arrived; copies it to its place if it is staged. Requires: active.
  [[nodiscard]] bool arrived(int partition);
  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& text) override;
  [[nodiscard]] int end(MpiRank& rank, MPI_Status* status, std::string& text) override;
  void retire() override;

 private:
  // The first part is the setup's receive. All later parts are messages of a round.
  void part_completed(const Request& part) override;
  // Posts the receives of a round. Requires: the channel is known, the round has begun.
  void post();
  // Copies a staged partition to the program's buffer.
  void put_in_place(std::uint64_t partition);
  [[nodiscard]] bool staged() const { return staging_ != nullptr; }
  // Whether the bytes [from, to) of the round have arrived.
  [[nodiscard]] bool here(std::uint64_t from, std::uint64_t to) const;

  // Written by the receive of the setup; zero before it has arrived, or if it failed.
  PartitionedSetup setup_;
  Request* matching_ = nullptr;  // the receive of the setup, while it is under way
  bool matched_ = false;
  int failed_ = MPI_SUCCESS;  // error of the receive of the setup
  // The program freed the request before it was matched: it deletes itself when the setup's receive ends.
  bool retired_ = false;
  // Packed data of a round, if the datatype has gaps.
  std::unique_ptr<std::byte[]> staging_;
  std::vector<bool> message_here_;  // by message; empty before the channel is known
  std::vector<bool> in_place_;      // by partition, when staged
};

}  // namespace margay::mpi_adi
