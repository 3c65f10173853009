#include "tests/libraries/support/virtual_machine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <utility>

#include "mpi/process/machine.hpp"

namespace margay::testing {

namespace {

thread_local Seat* thread_seat = nullptr;

// The number of successive turns in which no rank makes progress while no message is in flight; after them the machine
// is deadlocked. More than 1,000 for each rank, the rounds after which a device opens its second heap.
constexpr std::uint32_t kIdleTurnsMax = 40'000;
// The number of turns after which another rank becomes the slow one.
constexpr std::uint32_t kSlowTurns = 64;
constexpr std::uint64_t kTurnNs = 100;
// Idle turns after which time advances to the end of a sleep, because no other event is possible before.
constexpr std::uint32_t kIdleTurnsToNap = 1'000;

// Every second machine has small windows and pieces, so long bodies have many parts; the wires of every third are often
// full.
sim::VirtualOptions network_options(std::uint64_t seed) {
  sim::VirtualOptions options;
  if (seed % 2 == 0) {
    options.segment_bytes = 512;
    options.window_bytes = 4096;
    options.window_messages = 4;
  }
  if (seed % 3 == 0) options.full_probability = 0.5;
  return options;
}

}  // namespace

Seat::Seat(VirtualMachine& machine, std::uint32_t rank)
    : machine_(machine), rank_(rank), mpi_process_(*this, machine.clock_) {}

Seat* Seat::mine() {
  return thread_seat;
}

void Seat::yield(std::uint64_t ns) {
  if (ns != 0) nap_until_ns_ = machine_.clock_.now_ns() + ns;
  machine_.pass_turn(*this);
}

portals::Status Seat::start(std::unique_ptr<sim::Process>& out) {
  out = std::move(process_);
  return {};
}

mpi_adi::MpiRank* Seat::mpi() {
  return mpi::joined_rank(mpi_process_);
}

void Seat::plug_in() {
  sim::VirtualSettings settings;
  settings.job = machine_.job_of(rank_);
  settings.attach = [this](sim::TransmissionList& finished) -> sim::Wire& {
    return machine_.network_.attach(rank_, finished);
  };
  settings.yield_policy = this;
  settings.clock = &machine_.clock_;
  process_ = sim::Process::start_virtual(settings);
}

VirtualMachine::VirtualMachine(std::uint32_t ranks, std::uint64_t seed)
    : random_(seed), network_(ranks, seed, network_options(seed)) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) seats_.push_back(std::make_unique<Seat>(*this, rank));
  nodes_ = 1 + static_cast<std::uint32_t>(random_() % 2);
  sim::SharedTable::Numbers nodes(ranks), all_ranks(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes[rank] = rank * nodes_ / ranks;
  std::iota(all_ranks.begin(), all_ranks.end(), 0U);
  node_of_rank_ = std::move(nodes);
  all_ranks_ = std::move(all_ranks);
  for (auto& seat : seats_) seat->plug_in();
}

sim::Job VirtualMachine::job_of(std::uint32_t rank) const {
  sim::Job job;
  const auto size = static_cast<std::uint32_t>(seats_.size());
  job.rank = rank;
  job.size = size;
  job.node_count = nodes_;
  job.nodes_are_emulated = true;
  job.node_of_rank = node_of_rank_;
  job.all_ranks = all_ranks_;
  job.node = job.node_of_rank[rank];
  return job;
}

// The ranks that neither sleep nor have returned. If all ranks sleep, or wait for sleeping ones, time advances to the
// end of the shortest sleep.
std::vector<Seat*> VirtualMachine::find_runnable_seats() {
  std::vector<Seat*> able;
  Seat* sleeps = nullptr;
  const std::uint64_t now_ns = clock_.now_ns();
  for (auto& seat : seats_) {
    if (seat->over_) continue;
    if (seat->nap_until_ns_ <= now_ns) seat->nap_until_ns_ = 0;
    if (!seat->napping()) {
      able.push_back(seat.get());
    } else if (sleeps == nullptr || seat->nap_until_ns_ < sleeps->nap_until_ns_) {
      sleeps = seat.get();
    }
  }
  const bool nothing_moves = idle_turns_ >= kIdleTurnsToNap && turns_ - woken_in_turn_ >= kIdleTurnsToNap;
  if (sleeps != nullptr && (able.empty() || nothing_moves)) {
    woken_in_turn_ = turns_;
    while (network_.advance()) continue;
    clock_.pass_until(sleeps->nap_until_ns_);
    sleeps->nap_until_ns_ = 0;
    able = {sleeps};
  }
  return able;
}

Seat* VirtualMachine::choose() {
  clock_.pass(kTurnNs);
  const std::vector<Seat*> able = find_runnable_seats();
  if (able.empty()) return nullptr;
  if (turns_++ % kSlowTurns == 0) slow_ = random_() % 2 == 0 ? able[random_() % able.size()] : nullptr;
  if (random_() % (able.size() + 1) == 0) static_cast<void>(network_.advance());
  Seat* chosen = able[random_() % able.size()];
  if (chosen == slow_ && random_() % 8 != 0) chosen = able[random_() % able.size()];
  look_for_rest();
  return chosen;
}

void VirtualMachine::look_for_rest() {
  if (network_.counts().sent != sent_) {
    sent_ = network_.counts().sent;
    idle_turns_ = 0;
  }
  if (++idle_turns_ < kIdleTurnsMax) return;
  if (network_.advance()) {
    idle_turns_ = 0;
    return;
  }
  std::string text = "all ranks wait, and nothing is under way:\n";
  for (auto& seat : seats_) {
    text += "rank " + std::to_string(seat->rank_);
    if (seat->over_) {
      text += " has ended\n";
    } else if (seat->mpi_process_.rank() == nullptr) {
      text += " is outside of MPI\n";
    } else {
      text += " in " + std::string(sim::name_in(seat->mpi()->process().board().mpi_call)) + "\n";
      seat->mpi()->device().describe(text, 6);
    }
  }
  std::fputs(text.c_str(), stderr);
  std::_Exit(1);
}

void VirtualMachine::pass_turn(Seat& from) {
  Seat* next = choose();
  if (next == &from) return;
  if (next == nullptr) {
    all_over_.give();
    return;
  }
  next->turn_.give();
  if (!from.over_) from.turn_.await();
}

std::string VirtualMachine::run(const std::function<int(std::uint32_t rank)>& program) {
  std::vector<std::thread> threads;
  for (auto& seat : seats_) {
    threads.emplace_back([this, &program, mine = seat.get()] {
      thread_seat = mine;
      mpi_adi::set_thread_process(mine->mpi_process_);
      mine->turn_.await();
      mine->status_ = program(mine->rank_);
      mine->over_ = true;
      pass_turn(*mine);
    });
  }
  choose()->turn_.give();
  all_over_.await();
  for (std::thread& thread : threads) thread.join();
  return judge();
}

std::string VirtualMachine::measure() const {
  return std::to_string(turns_) + " turns, " + std::to_string(network_.counts().sent) + " messages, " +
         std::to_string(clock_.now_ns()) + " ns of virtual time";
}

// Connections that ended while answers to them were in flight: the answers arrive.
void VirtualMachine::settle() {
  bool moved = true;
  while (moved) {
    moved = false;
    for (auto& seat : seats_) moved |= seat->mpi()->device().progress();
    moved |= network_.advance();
  }
}

// sent = delivered + dropped, for each ordered pair of ranks that have called MPI_Finalize.
std::string VirtualMachine::judge() {
  std::string text;
  for (auto& seat : seats_) {
    const std::string name = "rank " + std::to_string(seat->rank_);
    if (seat->status_ != 0) text += name + " returned " + std::to_string(seat->status_) + "\n";
    if (seat->mpi() == nullptr) text += name + " did not begin MPI\n";
    if (seat->mpi_process_.rank() != nullptr) text += name + " did not end MPI\n";
  }
  if (!text.empty()) return text;
  settle();
  for (std::uint32_t from = 0; from < seats_.size(); ++from) {
    for (std::uint32_t to = 0; to < seats_.size(); ++to) {
      const sim::Registers& receiver = seats_[to]->mpi()->process().kernel().registers();
      const auto& drops = receiver.dropped(from);
      const std::uint64_t dropped = std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
      const std::uint64_t sent = seats_[from]->mpi()->process().kernel().registers().sent(to);
      if (sent == receiver.delivered(from) + dropped) continue;
      text += "from rank " + std::to_string(from) + " to rank " + std::to_string(to) + ": " + std::to_string(sent) +
              " messages sent, " + std::to_string(receiver.delivered(from)) + " delivered, " + std::to_string(dropped) +
              " dropped\n";
    }
  }
  return text;
}

}  // namespace margay::testing
