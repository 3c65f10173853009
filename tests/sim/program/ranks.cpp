// A test of several programs on portals together: rest, barriers, long messages in both directions, stopping,
// application bypass, holding. Runs with any number of ranks from 2, over any wire:
//
//   margay run -n 4 --check-accounting program_ranks FOLDER       FOLDER: empty, the same for all ranks
//
// Prints faults on stderr; the exit status is then 1.
#include <margay/portals.hpp>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace margay;
using namespace margay::portals;

namespace {

int failures = 0;
Rank my_rank = 0;

#define CHECK(condition)                                                                            \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      ++failures;                                                                                   \
      std::fprintf(stderr, "program_ranks: rank %u, line %d: %s\n", my_rank, __LINE__, #condition); \
    }                                                                                               \
  } while (false)

void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "program_ranks: rank %u: %s\n", my_rank, status.sentence().c_str());
  std::exit(1);
}

void sleep_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

std::vector<std::byte> pattern(std::size_t bytes, Rank from) {
  std::vector<std::byte> body(bytes);
  for (std::size_t i = 0; i < bytes; ++i) body[i] = static_cast<std::byte>((i * 2654435761U >> 7U) + from);
  return body;
}

// Random numbers, the same on every rank, from which each can compute the others' messages.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33U) % bound;
  }

 private:
  std::uint64_t state_;
};

// Every rank sends random messages, long and short, to every rank, some to portals without an entry. When no message is
// in flight, all have been counted and every acknowledgment has arrived.
void rest(Program& program) {
  constexpr std::size_t kLargest = 100'000;
  constexpr int kMessages = 200;
  for (std::uint64_t round = 0; round < 3; ++round) {
    std::vector<std::byte> memory(kLargest);
    SingleBlock window(Buffer{memory.data(), memory.size()});
    SingleBlock answers{Buffer{}};
    need(program.table().attach(1, window, {.save = Save::body, .offset_by = OffsetBy::sender, .acknowledge = true}));
    need(program.table().attach(2, answers, {.save = Save::header}));
    const std::uint64_t dropped_before = program.drops(DropReason::no_such_portal);
    need(program.barrier());
    const std::vector<std::byte> body(kLargest);
    std::uint64_t to_me = 0;
    std::uint64_t to_nobody_here = 0;
    std::uint64_t acknowledged = 0;
    for (Rank from = 0; from < program.size(); ++from) {
      Draw draw(round * 1000 + from);
      for (int i = 0; i < kMessages; ++i) {
        const Rank to = static_cast<Rank>(draw.below(program.size()));
        const std::uint64_t bytes = draw.below(8) == 0 ? draw.below(kLargest) : draw.below(100);
        const bool nowhere = draw.below(10) == 0;
        if (to == program.rank()) ++(nowhere ? to_nobody_here : to_me);
        if (from != program.rank()) continue;
        if (!nowhere) ++acknowledged;
        const PortalIndex portal = nowhere ? 3 : 1;
        need(program.put({.destination = to, .portal = portal, .return_portal = 2},
                         Region(const_cast<std::byte*>(body.data()), bytes)));
      }
    }
    need(program.settle());
    CHECK(window.messages() == to_me);
    CHECK(program.drops(DropReason::no_such_portal) - dropped_before == to_nobody_here);
    CHECK(answers.messages() == acknowledged);
    program.table().detach(1);
    program.table().detach(2);
  }
}

// No rank leaves a barrier before the last one has entered it.
void barriers(Program& program) {
  struct Times {
    std::uint64_t entered_ns;
  };
  std::vector<Times> entered(program.size());
  SingleBlock board(Buffer{reinterpret_cast<std::byte*>(entered.data()), entered.size() * sizeof(Times)});
  need(program.table().attach(1, board, {.save = Save::body, .offset_by = OffsetBy::sender}));
  need(program.barrier());
  for (Rank late = 0; late < program.size() && late < 4; ++late) {
    if (program.rank() == late) sleep_ms(20);
    Times mine{program.now_ns()};
    need(program.barrier());
    const std::uint64_t left_ns = program.now_ns();
    for (Rank to = 0; to < program.size(); ++to) {
      need(program.put({.destination = to, .portal = 1, .offset = program.rank() * sizeof mine},
                       Region(&mine, sizeof mine)));
    }
    need(program.settle());
    for (const Times& other : entered) CHECK(left_ns >= other.entered_ns);
  }
  program.table().detach(1);
}

// Both ranks send a long message at once and wait for their memory: neither waits for the other's program.
void long_both_ways(Program& program) {
  constexpr std::size_t kBytes = 5'000'003;
  std::vector<std::byte> in(kBytes);
  std::vector<std::byte> out = pattern(kBytes, program.rank());
  SingleBlock block(Buffer{in.data(), in.size()});
  need(program.table().attach(1, block, {}));
  need(program.barrier());
  const Rank right = (program.rank() + 1) % program.size();
  const Rank left = (program.rank() + program.size() - 1) % program.size();
  need(program.put({.destination = right, .portal = 1}, Region(out.data(), out.size())));
  std::fill(out.begin(), out.end(), std::byte{0});  // the program owns the memory again
  need(program.wait_until([&] { return block.messages() == 1; }));
  CHECK(in == pattern(kBytes, left));
  need(program.settle());
  program.table().detach(1);
}

// After an acknowledgment of the header alone, the remainder of the body need not be transferred.
void stopping(Program& program) {
  std::vector<std::byte> body(20'000'000);
  SingleBlock headers{Buffer{}};
  SingleBlock answers{Buffer{}};
  need(program.table().attach(1, headers, {.save = Save::header, .acknowledge = true}));
  need(program.table().attach(2, answers, {.save = Save::header}));
  need(program.barrier());
  const Rank right = (program.rank() + 1) % program.size();
  Sending sending;
  need(program.start_put({.destination = right, .portal = 1, .return_portal = 2}, Region(body.data(), body.size()),
                         sending));
  need(program.wait_until([&] { return answers.messages() == 1; }));
  CHECK(saved_of(answers.saved_header()) == Saved::header);
  program.stop(sending);
  need(program.wait_until([&] { return sending.done(); }));
  CHECK(!sending.failed());
  need(program.settle());
  CHECK(headers.saved_header().length == body.size());
  program.table().detach(1);
  program.table().detach(2);
}

// Rank 1 computes until rank 0 has read from its memory, for which rank 1's coprocessor is necessary. Rank 0 then
// creates a file as the proof.
void bypass(Program& program, const std::string& folder) {
  const std::string begun = folder + "/computing";
  const std::string proof = folder + "/read";
  std::vector<std::byte> memory = pattern(100'000, 1);
  std::vector<std::byte> copy(memory.size());
  SingleBlock source(Buffer{memory.data(), memory.size()});
  SingleBlock replies(Buffer{copy.data(), copy.size()});
  need(program.table().attach(1, source, {.offset_by = OffsetBy::sender, .direction = Direction::read_only}));
  need(program.table().attach(2, replies, {}));
  need(program.barrier());
  if (program.rank() == 1) {
    bool seen = false;
    program.compute([&] {
      std::ofstream(begun) << "computing\n";
      for (int i = 0; i < 2000 && !seen; ++i) {
        seen = access(proof.c_str(), F_OK) == 0;
        if (!seen) sleep_ms(10);
      }
    });
    CHECK(seen);
  }
  if (program.rank() == 0) {
    for (int i = 0; i < 2000 && access(begun.c_str(), F_OK) != 0; ++i) sleep_ms(10);
    need(program.get({.destination = 1, .portal = 1, .return_portal = 2}, memory.size()));
    need(program.wait_until([&] { return replies.messages() == 1; }, 15'000'000'000));
    CHECK(copy == memory);
    std::ofstream(proof) << "read\n";
  }
  need(program.settle());
  program.table().detach(1);
  program.table().detach(2);
}

// All ranks detect that a message is held, and all continue once there is room.
void holding(Program& program) {
  std::array<std::byte, 8> memory{};
  SingleBlock block(Buffer{memory.data(), memory.size()});
  need(program.table().attach(4, block, {}));
  program.hold_when_no_room(4);
  need(program.barrier());
  std::array<std::byte, 8> body{};
  std::array<Sending, 2> sendings;
  if (program.rank() == 0) {
    for (Sending& sending : sendings) {
      need(program.start_put({.destination = 1, .portal = 4}, Region(body.data(), body.size()), sending));
    }
  }
  CHECK(!program.settle(100'000'000).ok());
  block.reset_local_offset();
  need(program.settle());
  CHECK(block.messages() == (program.rank() == 1 ? 2U : 0U));
  program.table().detach(4);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "program_ranks: needs an empty folder, the same for all ranks\n");
    return 2;
  }
  std::unique_ptr<Program> program;
  need(Program::start(program));
  my_rank = program->rank();
  if (program->size() < 2) need(Status::error("start two ranks or more: margay run -n 2 program_ranks FOLDER"));
  rest(*program);
  barriers(*program);
  long_both_ways(*program);
  stopping(*program);
  bypass(*program, argv[1]);
  holding(*program);
  rest(*program);
  need(program->finish());
  return failures == 0 ? 0 : 1;
}
