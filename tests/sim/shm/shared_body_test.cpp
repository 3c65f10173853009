// Tests of the division of a body between sender and receiver: each chunk is carried once, whichever side is faster,
// and is visible when it is reported.
#include "sim/shm/shared_body.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/sim/shm_pin.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim {
namespace {

TEST_CASE("shared body: chunks cover the body, each byte once") {
  for (const std::uint64_t length :
       {1ULL, 20'000ULL, 65'535ULL, 65'536ULL, 100'000ULL, 1'048'577ULL, 1ULL << 33, (1ULL << 40) - 5}) {
    const BodyChunks chunks(length);
    std::uint64_t end = 0;
    for (std::uint64_t chunk = 0; chunk < chunks.count(); ++chunk) {
      REQUIRE_EQ(chunks.offset(chunk), end);
      REQUIRE_GT(chunks.bytes(chunk), 0);
      end += chunks.bytes(chunk);
    }
    CHECK_EQ(end, length);
    CHECK_LE(chunks.count(), 0x8000);
  }
  CHECK_EQ(BodyChunks(32'768).count(), 1);
}

struct Both {
  ProducerLine producer;
  ConsumerLine consumer;
  SharedLine shared;
  SharedBodyReceiver receiver{shared, consumer, producer};
  SharedBodySender sender{shared, producer, consumer};
};

TEST_CASE("shared body: the sides carry chunks from the front and from the back until they meet") {
  Both both;
  std::uint64_t chunk = 0;
  std::uint64_t landing = 0;
  CHECK_FALSE(both.sender.claim(1, 4, chunk, landing));  // not open yet
  both.receiver.open(1, 4096, 4);
  REQUIRE_EQ(both.receiver.claim(1, chunk), 1);
  CHECK_EQ(chunk, 0);
  REQUIRE(both.sender.claim(1, 4, chunk, landing));
  CHECK_EQ(chunk, 3);
  CHECK_EQ(landing, 4096);
  REQUIRE(both.sender.claim(1, 4, chunk, landing));
  CHECK_EQ(chunk, 2);
  REQUIRE_EQ(both.receiver.claim(1, chunk), 1);
  CHECK_EQ(chunk, 1);
  CHECK_EQ(both.receiver.claim(1, chunk), 0);
  CHECK_FALSE(both.sender.claim(1, 4, chunk, landing));
  CHECK(both.receiver.remainder(chunk) == SharedBodyReceiver::Remainder::coming);
  both.sender.report(1, false);
  CHECK(both.receiver.remainder(chunk) == SharedBodyReceiver::Remainder::done);
  both.receiver.open(3, 8192, 4);
  CHECK_FALSE(both.sender.claim(1, 4, chunk, landing));  // an offer that has ended
}

TEST_CASE("shared body: several chunks are claimed at once, up to the remaining number") {
  Both both;
  std::uint64_t chunk = 0;
  std::uint64_t landing = 0;
  both.receiver.open(1, 4096, 5);
  REQUIRE(both.sender.claim(1, 5, chunk, landing));
  REQUIRE_EQ(both.receiver.claim(3, chunk), 3);
  CHECK_EQ(chunk, 0);
  REQUIRE_EQ(both.receiver.claim(3, chunk), 1);
  CHECK_EQ(chunk, 3);
  CHECK_EQ(both.receiver.claim(3, chunk), 0);
  const BodyChunks chunks(200'000);
  CHECK_EQ(chunks.bytes(0, chunks.count()), 200'000);
  CHECK_EQ(chunks.bytes(1, 2), 2 * chunks.bytes(1));
  CHECK_EQ(chunks.within(1), 1);
  CHECK_EQ(chunks.within(1 << 20), (1 << 20) / chunks.bytes(0));
}

TEST_CASE("shared body: a chunk that the sender could not carry is named; a closed body has no chunks left") {
  Both both;
  std::uint64_t chunk = 0;
  std::uint64_t landing = 0;
  both.receiver.open(1, 4096, 3);
  REQUIRE(both.sender.claim(1, 3, chunk, landing));
  both.sender.report(1, false);
  REQUIRE(both.sender.claim(1, 3, chunk, landing));
  both.sender.report(1, true);
  REQUIRE_EQ(both.receiver.claim(1, chunk), 1);
  CHECK_EQ(both.receiver.claim(1, chunk), 0);
  REQUIRE(both.receiver.remainder(chunk) == SharedBodyReceiver::Remainder::failed);
  CHECK_EQ(chunk, 1);
  both.receiver.open(3, 4096, 3);
  both.receiver.close();
  CHECK_FALSE(both.sender.claim(3, 3, chunk, landing));
  CHECK_EQ(both.receiver.claim(1, chunk), 0);
}

TEST_CASE("shared body: words that contradict the receiver's own count are reported as damaged, and claim nothing") {
  Both both;
  constexpr std::uint64_t kNumber = 1;
  constexpr std::uint64_t kWord = kNumber << 32;
  std::uint64_t chunk = 0;
  std::uint64_t claims = 0;
  std::uint64_t carried = 0;
  bool first = false;  // the receiver has already carried the first of the four chunks
  SUBCASE("more chunks failed than were claimed") {
    claims = kWord | 4, carried = kWord | 1 << 16 | 5;
  }
  SUBCASE("no chunk failed") {
    claims = kWord | 4, carried = kWord | 1 << 16;
  }
  SUBCASE("one failed before the last") {
    claims = kWord | 4, carried = kWord | 1 << 16 | 3;
  }
  SUBCASE("more chunks carried than were claimed") {
    claims = kWord | 4, carried = kWord | 5;
  }
  SUBCASE("chunks claimed for the receiver") {
    claims = kWord | 2 << 16 | 2, carried = kWord | 2;
  }
  SUBCASE("the receiver's claim taken back") {
    first = true, claims = kWord | 0 << 16 | 2;
  }
  SUBCASE("more than all claimed") {
    claims = kWord | 0xffff, carried = kWord | 0xffff;
  }
  SUBCASE("another offer's number") {
    claims = (kNumber + 1) << 32;
  }
  SUBCASE("nothing at all") {
    claims = 0;
  }
  both.receiver.open(kNumber, 4096, 4);
  if (first) REQUIRE_EQ(both.receiver.claim(1, chunk), 1);
  both.shared.claims = claims;
  both.producer.carried = carried;
  CHECK_EQ(both.receiver.claim(4, chunk), 0);
  CHECK(both.receiver.remainder(chunk) == SharedBodyReceiver::Remainder::damaged);
}

constexpr std::uint64_t kBodies = margay::testing::of_threads(20'000);

// The bodies are memory of both threads, so that the thread sanitizer detects a missing order.
TEST_CASE("shared body: between threads every chunk is carried once") {
  constexpr std::uint64_t kChunks = 24;
  Both both;
  std::vector<std::uint64_t> source(kChunks), first(kChunks), second(kChunks);
  std::uint64_t by_sender = 0;
  std::atomic<std::uint64_t> offered{0};
  std::atomic<std::uint64_t> answered{0};
  std::thread sender([&] {
    const Pinned pinned(1);
    for (std::uint64_t body = 1; body <= kBodies; ++body) {
      std::iota(source.begin(), source.end(), body * 1000);
      offered.store(body, std::memory_order_release);
      while (answered.load(std::memory_order_acquire) != body) {
        std::uint64_t chunk = 0;
        std::uint64_t landing = 0;
        if (!both.sender.claim(2 * body + 1, kChunks, chunk, landing)) continue;
        reinterpret_cast<std::uint64_t*>(landing)[chunk] += source[chunk];
        ++by_sender;
        both.sender.report(2 * body + 1, false);
      }
    }
  });
  const Pinned pinned(0);
  std::uint64_t wrong = 0;
  for (std::uint64_t body = 1; body <= kBodies; ++body) {
    while (offered.load(std::memory_order_acquire) != body) {
    }
    std::vector<std::uint64_t>& landing = body % 2 == 0 ? first : second;
    std::fill(landing.begin(), landing.end(), 0);
    both.receiver.open(2 * body + 1, reinterpret_cast<std::uintptr_t>(landing.data()), kChunks);
    std::uint64_t chunk = 0;
    while (const std::uint64_t count = both.receiver.claim(1 + body % 3, chunk)) {
      for (std::uint64_t i = 0; i < count; ++i) landing[chunk + i] += source[chunk + i];
      take_steps(body % 64);
    }
    while (both.receiver.remainder(chunk) == SharedBodyReceiver::Remainder::coming) {
    }
    wrong += landing == source ? 0 : 1;
    answered.store(body, std::memory_order_release);
  }
  sender.join();
  CHECK_EQ(wrong, 0);
  CHECK_GT(by_sender, 0);
}

}  // namespace
}  // namespace margay::sim
