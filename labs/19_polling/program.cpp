// Lab 19: two wires between two ranks, and the cost of polling both. Page: page.md.
//
//   margay simulate -n N --machine sp2 --compute none --set way=shm,tcp ./program [table|pingpong|two|steps]
#include <margay/host.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "variant.h"

using namespace margay;
using namespace margay::portals;

namespace {

// The description of the library: its portal, and what its messages mean.
constexpr PortalIndex kPortal = 53;
constexpr MatchBits kBlock = 1, kDone = 2, kPing = 3, kEnd = 4, kAnyBits = ~MatchBits{0};
constexpr std::array<host::NamedPortal, 1> kPortals{{{kPortal, "mail"}}};
constexpr std::array<host::NamedBits, 4> kBits{{{kPortal, kBlock, 0, "a block"},
                                                {kPortal, kDone, 0, "done"},
                                                {kPortal, kPing, 0, "a ping"},
                                                {kPortal, kEnd, 0, "the end"}}};
constexpr host::Library kLibrary{.name = "mail", .portals = kPortals, .counters = {}, .events = {}, .bits = kBits};

void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "mail: %s\n", status.sentence().c_str());
  std::exit(1);
}

double now_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// The messages of one rank: all go to a heap at one portal, in the order in which the kernel delivers them.
class Mail {
 public:
  struct Letter {
    Rank from = 0;
    MatchBits bits = 0;
  };

  explicit Mail(host::Rank& rank) : rank_(rank) {
    list_.append(all_);
    need(rank_.attach(kPortal, list_));
    rank_.hold_when_no_room(kPortal);
  }
  ~Mail() { rank_.detach(kPortal); }

  [[nodiscard]] host::Rank& rank() { return rank_; }

  // Sends a message of this kind by a way.
  void send(Rank peer, host::Way way, MatchBits bits, std::size_t bytes = 0) {
    Header header;
    header.portal = kPortal;
    header.destination = {0, peer};
    header.match_bits = bits;
    const Region body(body_.data(), bytes);
    if (rank_.try_send_by(way, header, body)) return;
    need(host::wait_until(rank_, {.call = "send", .peer = peer, .messages = 1},
                          [&] { return rank_.try_send_by(way, header, body); }));
  }

  // The next message; waits for it.
  Letter receive() {
    need(host::wait_until(rank_, {.call = "receive", .messages = 1}, [&] { return has_letter(); }));
    ArrivedMessage& first = *heap_.first();
    const Letter letter{first.header.source.rank, first.header.match_bits};
    heap_.release(first);
    return letter;
  }

 private:
  [[nodiscard]] bool has_letter() { return heap_.first() != nullptr && heap_.first()->complete; }

  host::Rank& rank_;
  std::vector<std::byte> body_ = std::vector<std::byte>(kBlockBytes);
  alignas(64) std::array<std::byte, 1 << 17> memory_;
  DynamicBlock heap_{Buffer{memory_.data(), memory_.size()}};
  MatchEntry all_{{.ignore_bits = kAnyBits}, heap_, {}};
  MatchList list_;  // declared after its entry, so destroyed before it
};

// --- Part 1: the table of ways. `./program table` prints it, for each pair of ranks. ---

void print_table(host::Rank& rank) {
  for (Rank peer = 0; peer < rank.size(); ++peer) {
    for (const host::WayRow& row : rank.ways(peer))
      std::printf("row %u %u %s %s\n", rank.rank(), peer, row.wire,
                  row.is_usual          ? "usual"
                  : row.why_not.empty() ? "further"
                                        : "closed");
  }
}

// --- Part 2: blocks of data by one wire, the word `done` by another one. `./program`. ---

// The wires for blocks, in order of preference. Not each machine has all of them.
[[maybe_unused]] constexpr std::array kBlockWires{kFirstChoice, "tcp", "shm"};

// The way for blocks to `peer`.
host::Way block_way(host::Rank& rank, Rank peer) {
  host::Way way = host::Way::usual;
  /* BLANK 1: set `way` to that of the first wire in kBlockWires that is open; rank.find_way(peer, wire) is a row */
  static_cast<void>(rank), static_cast<void>(peer);
  /* END 1 */
  return way;
}

// Sends all blocks, and behind them `done`, by the usual way, because it is short and urgent. `ordered`: no block may
// be delivered after `done`.
void send_blocks(Mail& mail, Rank peer, bool ordered) {
  host::Rank& rank = mail.rank();
  const host::Way way = block_way(rank, peer);
  for (int block = 0; block < kBlocks; ++block) mail.send(peer, way, kBlock, kBlockBytes);
  if (ordered) {
    /* BLANK 2: `done` leaves by another way than the blocks: see that it is delivered behind them */
    static_cast<void>(way);
    /* END 2 */
  }
  mail.send(peer, host::Way::usual, kDone);
}

void receive_blocks(Mail& mail) {
  int before = 0;
  while (mail.receive().bits != kDone) ++before;
  std::printf("rank %u: done after %d of %d blocks\n", mail.rank().rank(), before, kBlocks);
  for (int block = before; block < kBlocks; ++block) mail.receive();
}

void transfer(Mail& mail, bool ordered) {
  if (mail.rank().rank() == 0) send_blocks(mail, kNear, ordered);
  if (mail.rank().rank() == kNear) receive_blocks(mail);
}

// --- Part 3: ping-pong. `./program pingpong` by the fast wire; `./program two` by both at once. ---

void print_polls(host::Rank& rank, const char* wire) {
  host::PollCounts counts;
  need(rank.poll_counts(wire, counts));
  std::printf("polls of %s: %llu\n", wire, static_cast<unsigned long long>(counts.polls));
}

// Answers the pings of rank 0 until its end.
void answer_pings(Mail& mail) {
  while (mail.receive().bits == kPing) mail.send(0, host::Way::usual, kPing);
}

// Rank 0 has kRoundTrips with kNear, and meanwhile as many as possible with kFar if `far`.
void ping(Mail& mail, bool far) {
  const double begin = now_us();
  int near_trips = 0, far_trips = 0;
  double far_us = 0;  // until the latest answer of kFar
  mail.send(kNear, host::Way::usual, kPing);
  if (far) mail.send(kFar, host::Way::usual, kPing);
  while (near_trips < kRoundTrips) {
    const Rank from = mail.receive().from;
    ++(from == kNear ? near_trips : far_trips);
    if (from == kFar) far_us = now_us() - begin;
    if (near_trips < kRoundTrips) mail.send(from, host::Way::usual, kPing);
  }
  const double us = now_us() - begin;
  std::printf("shm: %.1f us one way\n", us / (2 * kRoundTrips));
  if (far) std::printf("tcp: %.1f us one way\n", far_us / (2 * far_trips));
  print_polls(mail.rank(), "shm");
  print_polls(mail.rank(), "tcp");
  if (far && mail.receive().from != kFar) std::abort();  // the ping that is still under way
}

void pingpong(Mail& mail, bool far) {
  const Rank me = mail.rank().rank();
  if (me != 0 && me != kNear && !(far && me == kFar)) return;
  if (me != 0) return answer_pings(mail);
  ping(mail, far);
  for (const Rank peer : {Rank{kNear}, Rank{kFar}})
    if (peer == kNear || far) mail.send(peer, host::Way::usual, kEnd);
}

// --- Part 4: a model of steps. `./program steps`. In each step rank 0 has many messages with kNear, and then couples
// with kFar by one message each way. Only the coupling needs tcp. ---

// Called before and after each coupling.
void select_polling(host::Rank& rank, bool couples) {
  /* BLANK 3: let this rank poll tcp while it couples, and not in between: selective polling */
  static_cast<void>(rank), static_cast<void>(couples);
  /* END 3 */
}

std::uint64_t polls_of_tcp(host::Rank& rank) {
  host::PollCounts counts;
  need(rank.poll_counts("tcp", counts));
  return counts.polls;
}

void make_steps(Mail& mail) {
  host::Rank& rank = mail.rank();
  std::uint64_t outside = 0;
  const double begin = now_us();
  for (int step = 0; step < kSteps; ++step) {
    select_polling(rank, false);
    const std::uint64_t before = polls_of_tcp(rank);
    for (int trip = 0; trip < kRoundTrips; ++trip) {
      mail.send(kNear, host::Way::usual, kPing);
      mail.receive();
    }
    outside += polls_of_tcp(rank) - before;
    select_polling(rank, true);
    mail.send(kFar, host::Way::usual, kPing);
    mail.receive();
  }
  std::printf("%.1f us a step, %llu polls of tcp outside of the couplings\n", (now_us() - begin) / kSteps,
              static_cast<unsigned long long>(outside));
  for (const Rank peer : {Rank{kNear}, Rank{kFar}}) mail.send(peer, host::Way::usual, kEnd);
}

void steps(Mail& mail) {
  const Rank me = mail.rank().rank();
  if (me == 0) make_steps(mail);
  if (me == kNear || me == kFar) answer_pings(mail);
}

void play(Mail& mail, const char* part) {
  const auto is = [part](const char* name) { return std::strcmp(part, name) == 0; };
  if (is("table")) return print_table(mail.rank());
  if (is("pingpong") || is("two")) return pingpong(mail, is("two"));
  if (is("steps")) return steps(mail);
  transfer(mail, !is("unordered"));
}

}  // namespace

int main(int argc, char** argv) {
  host::Rank* rank = nullptr;
  need(host::join(kLibrary, rank));
  {
    const host::Call call(*rank, "mail");
    const auto mail = std::make_unique<Mail>(*rank);
    need(rank->barrier(call.name()));  // no rank sends before all portals are attached
    play(*mail, argc > 1 ? argv[1] : "ordered");
    need(rank->barrier(call.name()));
  }
  rank->end();
  return 0;
}
