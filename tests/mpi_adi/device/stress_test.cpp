// Random programs on the virtual wire: many ranks, all modes, wildcards, matched probes, pieces, a small heap; checked
// against MPI's matching rules (MPI 4.0, section 3.5) and the accounting law; at the end nothing is in progress.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "mpi_adi/datatype/construct.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "tests/mpi_adi/device_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::mpi_adi {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr int kTags = 3;
constexpr int kActions = 250;
constexpr int kReadyTag = 100;  // from here on, each used once

// 8 bytes of every 12: each element has two pieces.
Datatype strided_type() {
  PredefinedTypes types;
  const std::array<MPI_Aint, 2> places{0, 6};
  const TypePtr two = make_indexed(std::array{1, 1}, places, 1, types.find(MPI_INT)->definition, {});
  return Datatype(make_resized(two, 0, 12, {}));
}

std::vector<std::byte> spread(const std::vector<std::byte>& packed) {
  std::vector<std::byte> out(packed.size() / 8 * 12);
  for (std::size_t at = 0; at < packed.size(); at += 8) {
    std::memcpy(&out[at / 8 * 12], &packed[at], 4);
    std::memcpy(&out[at / 8 * 12 + 6], &packed[at + 4], 4);
  }
  return out;
}

std::vector<std::byte> gather(const std::vector<std::byte>& memory, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::memcpy(&out[at], &memory[at / 8 * 12], 4);
    std::memcpy(&out[at + 4], &memory[at / 8 * 12 + 6], 4);
  }
  return out;
}

struct SentMessage {
  std::uint32_t from = 0, to = 0;
  int tag = 0;
  std::vector<std::byte> packed;  // its first 8 bytes: the index in `sent`
  std::vector<std::byte> memory;  // the memory of the send
  Request* request = nullptr;     // nullptr: sent at once, without a request
  int matched_by = -1;            // index in the receiver's receives
};

struct PostedReceive {
  int source = 0, tag = 0;
  bool strided = false;
  std::vector<std::byte> memory;
  Request* request = nullptr;
  int got = -1;  // index in `sent`
};

class Program {
 public:
  explicit Program(std::uint64_t seed) : world_(options(seed), network()), random_(seed * 77 + 1), posted_(kRanks) {}

  void run() {
    for (int action = 0; action < kActions; ++action) {
      act();
      for (std::uint64_t steps = random_() % 6; steps > 0; --steps) (void)world_.step();
      collect();
    }
    drain();
    check_matching();
    world_.check_accounting();
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      CHECK(world_.device(rank).quiet());
      CHECK(world_.world(rank).references == 1);
      CHECK(world_.device(rank).counts().ready_dropped == 0);
      Envelope envelope;
      CHECK(!world_.device(rank).probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_.world(rank), envelope));
    }
  }

 private:
  static WorldOptions options(std::uint64_t seed) {
    WorldOptions options;
    options.ranks = kRanks;
    options.seed = seed;
    options.device.short_limit_virtual = 700;
    options.device.heap_bytes = 64 * 1024;
    if (seed % 4 == 0) options.device.long_protocol = DeviceOptions::LongProtocol::rendezvous;
    return options;
  }
  static sim::VirtualOptions network() {
    sim::VirtualOptions network;
    network.segment_bytes = 512;  // so that short bodies come in parts too
    network.window_bytes = 4096;
    network.window_messages = 8;
    return network;
  }

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void act() {
    const auto rank = static_cast<std::uint32_t>(below(kRanks));
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return send(rank, SendMode::standard);
      case 4:
        return send(rank, SendMode::synchronous);
      case 5:
        return ready(rank);
      case 6:
      case 7:
      case 8:
        return receive(rank, below(3) == 0 ? MPI_ANY_SOURCE : static_cast<int>(below(kRanks)),
                       below(3) == 0 ? MPI_ANY_TAG : static_cast<int>(below(kTags)));
      default:
        return below(2) == 0 ? matched(rank) : cancel(rank);
    }
  }

  void send(std::uint32_t from, SendMode mode) {
    send(from, static_cast<std::uint32_t>(below(kRanks)), static_cast<int>(below(kTags)), mode);
  }

  void send(std::uint32_t from, std::uint32_t to, int tag, SendMode mode) {
    const std::uint64_t words = below(3) == 0 ? 1 + below(1500) : 1 + below(60);
    auto& message = *sent_.emplace_back(std::make_unique<SentMessage>());
    message.from = from;
    message.to = to;
    message.tag = tag;
    message.packed = pattern(words * 8, static_cast<unsigned>(sent_.size()));
    const std::uint64_t number = sent_.size() - 1;
    std::memcpy(message.packed.data(), &number, sizeof number);
    const bool strided = below(3) == 0;
    message.memory = strided ? spread(message.packed) : message.packed;
    Datatype& type = strided ? strided_ : world_.bytes();
    const auto count = static_cast<std::int64_t>(strided ? words : words * 8);
    Device& device = world_.device(from);
    if (below(2) == 0 &&
        device.send_now({mode, message.memory.data(), count, &type, static_cast<int>(to), tag, &world_.world(from)})) {
      std::ranges::fill(message.memory, std::byte{0xee});  // the program may change it
      return;
    }
    message.request =
        device.start_send({mode, message.memory.data(), count, &type, static_cast<int>(to), tag, &world_.world(from)});
  }

  // A ready message to a receive that only it can match; a wildcard may take it first, which is also valid.
  void ready(std::uint32_t from) {
    const auto to = static_cast<std::uint32_t>(below(kRanks));
    const int tag = kReadyTag + static_cast<int>(sent_.size());
    receive(to, static_cast<int>(from), tag);
    send(from, to, tag, SendMode::ready);
  }

  void receive(std::uint32_t rank, int source, int tag) {
    auto& posted = prepare(rank, source, tag, below(3) == 0);
    posted.request = world_.device(rank).start_receive(
        {posted.memory.data(), count_of(posted), &type_of(posted), source, tag, &world_.world(rank)});
  }

  void matched(std::uint32_t rank) {
    Envelope envelope;
    Message* const message =
        world_.device(rank).matched_probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_.world(rank), envelope);
    if (message == nullptr) return;
    auto& posted = prepare(rank, MPI_ANY_SOURCE, MPI_ANY_TAG, false);
    for (std::uint64_t steps = below(4); steps > 0; --steps) (void)world_.step();
    posted.request =
        world_.device(rank).start_matched_receive(posted.memory.data(), count_of(posted), type_of(posted), *message);
  }

  void cancel(std::uint32_t rank) {
    for (auto& posted : posted_[rank]) {
      if (posted->request == nullptr || posted->tag >= kReadyTag || below(4) != 0) continue;
      world_.device(rank).cancel(*posted->request);
      return;
    }
  }

  PostedReceive& prepare(std::uint32_t rank, int source, int tag, bool strided) {
    auto& posted = *posted_[rank].emplace_back(std::make_unique<PostedReceive>());
    posted.source = source;
    posted.tag = tag;
    posted.strided = strided;
    posted.memory.assign(strided ? 1500 * 12 : 1500 * 8 + 8, std::byte{0x55});
    return posted;
  }
  std::int64_t count_of(const PostedReceive& posted) const {
    return posted.strided ? 1500 : static_cast<std::int64_t>(posted.memory.size());
  }
  Datatype& type_of(const PostedReceive& posted) { return posted.strided ? strided_ : world_.bytes(); }

  // Frees completed requests, and records the message that each receive got.
  void collect() {
    for (auto& message : sent_) {
      if (message->request == nullptr || !message->request->complete) continue;
      CHECK(message->request->error_class == MPI_SUCCESS);
      world_.device(message->from).free(*message->request);
      message->request = nullptr;
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      for (std::size_t at = 0; at < posted_[rank].size(); ++at) {
        PostedReceive& posted = *posted_[rank][at];
        if (posted.request == nullptr || !posted.request->complete) continue;
        if (!posted.request->cancelled) note(rank, static_cast<int>(at), posted);
        world_.device(rank).free(*posted.request);
        posted.request = nullptr;
      }
    }
  }

  void note(std::uint32_t rank, int at, PostedReceive& posted) {
    const Request& request = *posted.request;
    REQUIRE(request.error_class == MPI_SUCCESS);
    REQUIRE(request.bytes >= 8);
    const std::vector<std::byte> packed =
        posted.strided ? gather(posted.memory, request.bytes)
                       : std::vector<std::byte>(posted.memory.begin(),
                                                posted.memory.begin() + static_cast<std::ptrdiff_t>(request.bytes));
    std::uint64_t number = 0;
    std::memcpy(&number, packed.data(), sizeof number);
    REQUIRE(number < sent_.size());
    SentMessage& message = *sent_[number];
    CHECK(message.packed == packed);
    CHECK(message.to == rank);
    CHECK(message.matched_by == -1);
    CHECK(static_cast<std::uint32_t>(request.source) == message.from);
    CHECK(request.tag == message.tag);
    message.matched_by = at;
    posted.got = static_cast<int>(number);
  }

  // Receives all messages that are still unexpected, then cancels the unmatched receives.
  void drain() {
    for (bool more = true; more;) {
      world_.settle();
      more = false;
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        Envelope envelope;
        while (world_.device(rank).probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_.world(rank), envelope)) {
          receive(rank, MPI_ANY_SOURCE, MPI_ANY_TAG);
          more = true;
        }
      }
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      for (auto& posted : posted_[rank]) {
        if (posted->request != nullptr) world_.device(rank).cancel(*posted->request);
      }
    }
    collect();
    for (std::size_t number = 0; number < sent_.size(); ++number) {
      const SentMessage& message = *sent_[number];
      CAPTURE(number);
      CAPTURE(message.from);
      CAPTURE(message.to);
      CAPTURE(message.tag);
      CAPTURE(message.packed.size());
      std::string state;
      world_.device(message.from).describe(state, 20);
      world_.device(message.to).describe(state, 20);
      CAPTURE(state);
      CHECK(message.request == nullptr);
      REQUIRE(message.matched_by != -1);
    }
    for (const auto& of_rank : posted_) {
      for (const auto& posted : of_rank) CHECK(posted->request == nullptr);
    }
  }

  static bool accepts(const PostedReceive& posted, const SentMessage& message) {
    return (posted.source == MPI_ANY_SOURCE || posted.source == static_cast<int>(message.from)) &&
           (posted.tag == MPI_ANY_TAG || posted.tag == message.tag);
  }

  // Non-overtaking. For each message m that receive r got: an earlier message of the same sender that r accepts too
  // went to an earlier receive; an earlier receive that accepts m too got a message, and if it is from this sender, an
  // earlier one.
  void check_matching() {
    for (std::size_t number = 0; number < sent_.size(); ++number) {
      const SentMessage& message = *sent_[number];
      const auto& receives = posted_[message.to];
      const PostedReceive& mine = *receives[static_cast<std::size_t>(message.matched_by)];
      REQUIRE(accepts(mine, message));
      for (std::size_t earlier = 0; earlier < number; ++earlier) {
        const SentMessage& other = *sent_[earlier];
        if (other.from != message.from || other.to != message.to || !accepts(mine, other)) continue;
        CHECK(other.matched_by < message.matched_by);
      }
      for (int earlier = 0; earlier < message.matched_by; ++earlier) {
        const PostedReceive& other = *receives[static_cast<std::size_t>(earlier)];
        if (!accepts(other, message) || other.got == -1) continue;  // -1: cancelled; it may have been posted or not
        const SentMessage& got = *sent_[static_cast<std::size_t>(other.got)];
        if (got.from == message.from) CHECK(other.got < static_cast<int>(number));
      }
    }
  }

  VirtualWorld world_;
  std::mt19937_64 random_;
  Datatype strided_ = strided_type();
  std::vector<std::unique_ptr<SentMessage>> sent_;
  std::vector<std::vector<std::unique_ptr<PostedReceive>>> posted_;
};

TEST_CASE("random programs obey MPI's matching rules") {
  for (const std::uint64_t seed : margay::testing::Seeds(150)) {
    CAPTURE(seed);
    Program(seed).run();
  }
}

}  // namespace
}  // namespace margay::mpi_adi
