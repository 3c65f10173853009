#include "virtual_machine/world/world.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <utility>

#include "mpi/process/machine.hpp"
#include "mpi_adi/protocol/held_receives.hpp"
#include "mpi_adi/rank/current.hpp"
#include "sim/base/clock.hpp"
#include "sim/boot/job_rates.hpp"
#include "sim/boot/options.hpp"
#include "sim/kernel/kernel.hpp"
#include "virtual_machine/world/machine_rates.hpp"
#include "virtual_machine/world/trace_folder.hpp"
#include "virtual_machine/world/watchdog.hpp"

namespace margay::virtual_machine {

namespace {

// The virtual time of reading the clock, about that of this machine.
constexpr std::uint64_t kClockNs = 20;
// The virtual time of a poll without a result (MPI_Test), besides the network's cost, so that loops of polls end.
constexpr std::uint64_t kEmptyPollNs = 100;
// Rounds of all waiting ranks without a frame, after which the run is deadlocked. The library counts rounds: a device
// opens its second heap after 1,000 (mpi_adi/device/unexpected), and then continues. The program's functions for
// generalized requests may count their polls, too.
constexpr std::uint32_t kIdleRoundsMax = 1'200;
// A poll takes a step longer after each kPollsOfStep successive polls without a frame.
constexpr std::uint64_t kPollStepNs = 20;
constexpr std::uint32_t kPollsOfStep = 16;
constexpr std::uint64_t kPollStepMaxNs = 1'000;
// A wait makes rounds without a frame, because the library counts rounds, and because a message for which a rank has no
// room stays on its wire. The time between them doubles from kRetryMinNs to kRetryUsualNs and, after kRetriesUsual
// rounds of that, further: an hour's wait has some 120 rounds.
constexpr std::uint64_t kRetryUsualNs = 10'000'000;
constexpr std::uint32_t kRetriesUsual = 100;
// In an exploration: rounds of the ranks that poll before a wildcard is chosen; and after which a wildcard's given
// source counts as one that sends no message.
constexpr std::uint32_t kPollRounds = 4;
constexpr std::uint32_t kPollRoundsMax = 1'000;
// In seconds of virtual time.
constexpr const char* kNoStall = "1000000000";
// Longer messages are sent in the order of their times, so that they cross links in that order.
constexpr std::uint64_t kOrderedBytes = 1024;

// Long bodies travel in few frames. The window is that of a connection with large buffers.
sim::VirtualOptions network_options(const Settings& settings) {
  sim::VirtualOptions options;
  options.segment_bytes = kSegmentBytes;
  options.window_bytes = std::uint64_t{1} << 20;
  options.window_messages = 256;
  options.full_probability = 0;
  options.stall_probability = 0;
  // Delays are for tests, as these are: small windows, so long bodies have many parts, and wires that are often full.
  if (settings.delay_ns != 0 && settings.seed % 2 == 1) {
    options.segment_bytes = 512;
    options.window_bytes = 4096;
    options.window_messages = 4;
  }
  if (settings.delay_ns != 0 && settings.seed % 3 == 2) options.full_probability = 0.5;
  return options;
}

std::uint64_t least_network_latency_of(const Machine& machine) {
  std::uint64_t least_ns = kNever;
  for (const Network& network : machine.networks) least_ns = std::min(least_ns, network.latency_ns);
  return least_ns;
}

// At least 1, so that one of several ranks with equal times continues.
std::uint64_t least_latency_of(const Machine& machine) {
  std::uint64_t least_ns = least_network_latency_of(machine);
  if (machine.processors_per_node > 1) least_ns = std::min(least_ns, machine.memory_latency_ns);
  return std::max<std::uint64_t>(least_ns, 1);
}

bool do_polls_take_time(const WayNetworks& networks, const Machine& machine) {
  bool any = false;
  for (std::size_t way = 0; way < networks.size(); ++way) any |= networks.poll_ns(way) != 0;
  return any && networks.has_plan() && !machine.coprocessor;
}

// By the system call, because the C library's function returns virtual time (program/replaced_time).
std::uint64_t processor_time_ns() {
  timespec time{};
  ::syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

World::World(const Settings& settings, const Machine& machine, const WayPlan& plan, const Program& program,
             const Faults& faults, std::optional<Wildcards> wildcards)
    : settings_(settings),
      machine_(machine),
      program_(program),
      model_(machine, settings.ranks),
      networks_(*this, plan, model_, settings.seed, network_options(settings)),
      polls_take_time_(do_polls_take_time(networks_, machine)),
      schedule_(settings.ranks, settings.seed),
      retries_(settings.ranks),
      stacks_(settings.ranks, settings.stack_bytes),
      delays_(settings.seed),
      wildcards_(std::move(wildcards)),
      deaths_(faults.deaths.rbegin(), faults.deaths.rend()),
      report_(begin_report(settings, {program.argv, program.argv + program.argc})) {
  for (const DownLink& down : faults.down_links) model_.fail_link(down.from, down.to, kBeginNs + down.at_ns);
  least_latency_ns_ = least_latency_of(machine);
  least_network_latency_ns_ = least_network_latency_of(machine);
  if (!settings.trace_dir.empty()) {
    loads_ = std::make_unique<LinkLoads>(model_.channel_counts(), kBeginNs);
    model_.record_to(loads_.get());
  }
  sim::SharedTable::Numbers nodes(settings.ranks), all_ranks(settings.ranks);
  for (std::uint32_t rank = 0; rank < settings.ranks; ++rank) nodes[rank] = model_.node_of(rank);
  node_count_ = nodes.back() + 1;
  std::iota(all_ranks.begin(), all_ranks.end(), 0U);
  // Without rates of the user, those of the machine. MPI_Init reports rates that are not valid.
  const sim::Options options = sim::Options::from_environment(environ);
  rates_ = options.text("rates");
  rates_given_ = !rates_.empty();
  if (sim::JobRates found; rates_given_ && sim::find_job_rates(options, found).ok()) rates_ = found.text;
  if (!rates_given_) rates_ = collectives::to_text(rates_of(machine));
  node_of_rank_ = std::move(nodes);
  all_ranks_ = std::move(all_ranks);
  const auto routes = sim::Routes::pattern_of(settings.ranks);
  for (std::uint32_t rank = 0; rank < settings.ranks; ++rank) {
    ranks_.push_back(std::make_unique<VirtualRank>(*this, networks_, job_of(rank), routes));
    VirtualRank& made = *ranks_.back();
    made.local_ns_ = kBeginNs;
    // A wait's rounds are polls that follow one another, so none of them makes slow wires due.
    if (polls_take_time_) made.kernel_.treat_yields_as_rounds();
    made.fiber_ = std::make_unique<Fiber>(stacks_.stack(rank), [this, &made] { run_rank(made); });
    schedule_.add(rank, kBeginNs);
  }
}

sim::Job World::job_of(std::uint32_t rank) const {
  sim::Job job;
  job.rank = rank;
  job.size = settings_.ranks;
  job.node_count = node_count_;
  job.nodes_are_emulated = true;
  job.node_of_rank = node_of_rank_;
  job.all_ranks = all_ranks_;
  job.node = job.node_of_rank[rank];
  job.trace_dir = settings_.trace_dir;
  job.options = sim::Options::from_environment(environ);
  // A wait may take hours of virtual time, and a deadlock is detected at once.
  job.options.set("stall_seconds", kNoStall);
  if (!job.trace_dir.empty() && !job.options.has("trace_events"))
    job.options.set("trace_events", std::to_string(trace_events_for(settings_.ranks)));
  // The library has one limit for all messages of the virtual wire.
  const std::uint64_t short_limit = machine_.networks.front().short_limit;
  if (short_limit != 0 && !job.options.has("protocol"))
    job.options.set("protocol", "short_limit=" + std::to_string(short_limit));
  job.rates = rates_;
  job.rates_given = rates_given_;
  return job;
}

int World::run() {
  VirtualRank* const first = choose();
  running_ = first;
  set_hooks(this);
  const Watchdog watchdog(running_number_);
  // Without a rank, all were killed at the begin.
  if (first != nullptr) {
    first->state_.enter();
    mpi_adi::set_thread_process(first->mpi_process_, nullptr);
    begin_computation();
    own_fiber_.switch_to(*first->fiber_);
  }
  // The last rank that ended has switched back.
  running_ = nullptr;
  const bool accounts_are_right = settle_accounts();
  if (!accounts_are_right)
    report_.findings.push_back(
        {sim::Finding::accounting_mismatch, {}, "messages were sent that are neither delivered nor lost"});
  if (settings_.summary) print_summary();
  for (const auto& rank : ranks_)
    if (mpi_adi::MpiRank* const joined = rank->joined(); joined != nullptr) joined->recorder().close();
  write_loads();
  const auto failed = std::find_if(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->status_ != 0; });
  const int status = failed != ranks_.end() ? (*failed)->status_ : static_cast<int>(!accounts_are_right);
  return write_report(status);
}

void World::run_rank(VirtualRank& rank) {
  begin_computation();
  rank.state_.run(program_);  // ends in exit_rank()
  std::abort();
}

// --- Time ---

void World::begin_computation() {
  if (settings_.compute == Compute::measured) computes_since_ns_ = processor_time_ns();
}

// Subtracts the shortest time so far, which is the cost of the measurement: leaving and entering the library, and two
// readings of the clock (0.5 us).
void World::count_computation(VirtualRank& rank) {
  if (settings_.compute != Compute::measured || rank.calls_ != 0 || &rank != running_) return;
  const std::uint64_t taken_ns = processor_time_ns() - computes_since_ns_;
  least_computation_ns_ = std::min(least_computation_ns_, taken_ns);
  const double scale = settings_.cpu_scale * machine_.cpu_scale;
  spend(rank, static_cast<std::uint64_t>(static_cast<double>(taken_ns - least_computation_ns_) * scale));
}

void World::begin_call(VirtualRank& rank) {
  count_computation(rank);
  // The first call after MPI_Init: no receive is posted yet.
  if (wildcards_ && rank.mpi_process_.rank() != nullptr && rank.joined()->device().held_receives() == nullptr)
    rank.joined()->device().follow_wildcards(*wildcards_, wildcards_->holds());
  ++rank.calls_;
  spend(rank, settings_.call_ns);
}

void World::end_call(VirtualRank& rank) {
  end_handling(rank);
  --rank.calls_;
  begin_computation();
}

void World::begin_test(VirtualRank& rank) {
  rank.tests_ = true;
}

std::uint64_t World::time_of(const VirtualRank& rank) {
  return rank.handling_ns_ != 0 ? rank.handling_ns_ : rank.local_ns_;
}

void World::spend(VirtualRank& rank, std::uint64_t ns) {
  (rank.handling_ns_ != 0 ? rank.handling_ns_ : rank.local_ns_) += ns;
}

std::uint64_t World::read_clock(VirtualRank& rank) {
  if (&rank == running_) {
    count_computation(rank);
    spend(rank, kClockNs);
    begin_computation();
  }
  return time_of(rank);
}

std::uint64_t World::arrival_ns(std::size_t way, std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                                bool begins) {
  VirtualRank& rank = *ranks_[from];
  count_computation(rank);
  bytes_ += bytes;
  networks_.count_bytes(way, bytes);
  const std::uint32_t network = networks_.network(way, from, to);
  // The model takes messages in the order of their times. A short one occupies a link for so short a time that the
  // order within the least latency of a network does not matter. Memory has no links.
  if (&rank == running_ && rank.handling_ns_ == 0 && network != kInMemory)
    wait_for_turn(rank, bytes > kOrderedBytes ? 0 : least_network_latency_ns_);
  const Transfer transfer = model_.transfer_by(network, from, to, bytes, time_of(rank));
  std::uint64_t busy_ns = transfer.sender_free_ns - time_of(rank);
  // The processor is busy with a message once, not with each of its segments; but in memory it copies each one.
  if (!begins) busy_ns = transfer.network == kInMemory ? busy_ns - std::min(busy_ns, machine_.memory_overhead_ns) : 0;
  spend(rank, busy_ns);
  begin_computation();
  if (transfer.arrival_ns == kLost) {
    wake(*ranks_[to], time_of(rank));
    return sim::VirtualTiming::kLost;
  }
  if (!begins || settings_.delay_ns == 0) return transfer.arrival_ns;
  // The head's delay is also that of the body behind it.
  return transfer.arrival_ns + delays_() % (settings_.delay_ns + 1);
}

void World::sent(std::size_t way, std::uint32_t to, std::uint64_t at_ns) {
  VirtualRank& rank = *ranks_[to];
  rank.arrivals_ns_[way].push(at_ns);
  if (rank.waits_ && polls_take_time_)
    expect_arrival(rank, way, at_ns);
  else if (rank.waits_)
    schedule_.add(to, std::max(rank.local_ns_, at_ns));
  else if (machine_.coprocessor && at_ns < rank.local_ns_)
    add_work(rank, at_ns);
}

void World::add_work(VirtualRank& rank, std::uint64_t at_ns) {
  rank.work_ns_ = std::min(rank.work_ns_, at_ns);
  if (rank.computes_) schedule_.add(rank.rank_, std::max(rank.handled_ns_, at_ns));
}

void World::taken(std::size_t way, std::uint32_t by, std::uint32_t from, bool begins) {
  VirtualRank& rank = *ranks_[by];
  rank.empty_polls_ = 0;
  rank.retry_ns_ = kRetryMinNs;
  rank.retries_ = 0;
  count_computation(rank);
  if (begins) spend(rank, receive_time_ns(way, by, from));
  // A sender with a full window continues.
  VirtualRank& sender = *ranks_[from];
  const bool has_more = networks_.has_queued(way, from);
  if (has_more && sender.waits_)
    schedule_.add(from, std::max(sender.local_ns_, time_of(rank)));
  else if (has_more && machine_.coprocessor && time_of(rank) < sender.local_ns_)
    add_work(sender, time_of(rank));
  begin_computation();
}

// The processor time of a receiver: the poll that finds a message, and its part of the work.
std::uint64_t World::receive_time_ns(std::size_t way, std::uint32_t by, std::uint32_t from) const {
  const std::uint32_t number = networks_.network(way, from, by);
  if (number == kInMemory) return machine_.memory_overhead_ns;
  const Network& network = machine_.networks[number];
  return network.receive_overhead_ns + (polls_take_time_ ? 0 : network.poll_ns);
}

std::uint64_t World::next_arrival_ns(const VirtualRank& rank) {
  std::uint64_t next_ns = kNever;
  for (const VirtualRank::Arrivals& arrivals : rank.arrivals_ns_)
    if (!arrivals.empty()) next_ns = std::min(next_ns, arrivals.top());
  return next_ns;
}

void World::remove_arrivals(VirtualRank& rank, std::size_t way, std::uint64_t now_ns) {
  VirtualRank::Arrivals& arrivals = rank.arrivals_ns_[way];
  while (!arrivals.empty() && arrivals.top() <= now_ns) arrivals.pop();
}

std::uint64_t World::begin_poll(std::size_t way, std::uint32_t number, bool is_new) {
  VirtualRank& rank = *ranks_[number];
  if (&rank != running_) return kNever;  // after the end of all ranks
  count_computation(rank);
  if (polls_take_time_) return begin_timed_poll(rank, way, is_new);
  end_handling(rank);
  // A program that polls in a loop must reach the time of the message that it polls for.
  rank.local_ns_ += std::min(kPollStepNs * (rank.empty_polls_++ / kPollsOfStep), kPollStepMaxNs);
  // A poll without a result needs no certainty about messages that others have still to send, unless the program sees
  // that there is none: a wait follows, in which the rank continues at the time of the next arrival.
  const bool finds_none = rank.work_ns_ == kNever && next_arrival_ns(rank) > rank.local_ns_;
  const std::uint64_t now_ns = finds_none && !rank.tests_ ? rank.local_ns_ : compute(rank);
  // A test polls each wire, the last one in the order of the kernel's rounds last.
  if (way + 1 == networks_.size()) rank.tests_ = false;
  remove_arrivals(rank, way, now_ns);
  // The coprocessor polls again for the frames between its time and the rank's.
  if (const std::uint64_t next_ns = next_arrival_ns(rank); machine_.coprocessor && next_ns < rank.local_ns_)
    rank.work_ns_ = next_ns;
  begin_computation();
  return now_ns;
}

void World::end_handling(VirtualRank& rank) {
  if (rank.handling_ns_ == 0) return;
  rank.handled_ns_ = rank.handling_ns_;
  rank.handling_ns_ = 0;
}

// --- Order ---

std::uint64_t World::compute(VirtualRank& rank) {
  for (;;) {
    std::uint64_t at_ns = rank.local_ns_;
    if (rank.work_ns_ != kNever) at_ns = std::min(at_ns, std::max(rank.work_ns_, rank.handled_ns_));
    if (!is_past(at_ns)) {
      rank.computes_ = true;
      schedule_.add(rank.rank_, at_ns);
      suspend(rank);
      rank.computes_ = false;
      continue;  // a frame may have been sent meanwhile that arrives earlier
    }
    if (at_ns < rank.local_ns_) rank.handling_ns_ = at_ns;
    // begin_poll() finds the later arrivals again.
    rank.work_ns_ = kNever;
    return at_ns;
  }
}

bool World::is_past(std::uint64_t at_ns) {
  const std::uint64_t next_ns = std::min(schedule_.next_ns(), retries_.next_ns());
  return next_ns == kNever || next_ns + least_latency_ns_ > at_ns;
}

void World::wait_for_turn(VirtualRank& rank, std::uint64_t lead_ns) {
  while (schedule_.next_ns() < rank.local_ns_ - std::min(rank.local_ns_, lead_ns)) {
    schedule_.add(rank.rank_, rank.local_ns_);
    suspend(rank);
  }
}

void World::wait(VirtualRank& rank) {
  count_computation(rank);
  // The coprocessor's work goes on in the next round, which sends first. The rank itself still computes, and the next
  // poll suspends it.
  if (rank.handling_ns_ != 0) return begin_computation();
  if (polls_take_time_) return wait_by_polls(rank);
  rank.waits_ = true;
  if (const std::uint64_t next_ns = next_arrival_ns(rank); next_ns != kNever)
    schedule_.add(rank.rank_, std::max(rank.local_ns_, next_ns));
  retries_.add(rank.rank_, rank.local_ns_ + rank.retry_ns_);
  if (rank.retry_ns_ < kRetryUsualNs || ++rank.retries_ > kRetriesUsual)
    rank.retry_ns_ = std::min(2 * rank.retry_ns_, kRetryMaxNs);
  suspend(rank);
  // One of the two entries may be left. It must not make the rank continue after this wait.
  retries_.remove(rank.rank_);
  schedule_.remove(rank.rank_);
  rank.waits_ = false;
  begin_computation();
}

void World::pause(VirtualRank& rank, std::uint64_t ns) {
  count_computation(rank);
  if (rank.handling_ns_ != 0) return begin_computation();
  rank.local_ns_ += std::max(ns, kEmptyPollNs);
  // So that a loop of polls lets other ranks run.
  rank.tests_ = true;
  if (wildcards_ && wildcards_->holds()) {
    // A rank that polls must not keep wildcards waiting.
    rank.polls_ = true;
    wait(rank);
    rank.polls_ = false;
  }
  begin_computation();
}

void World::sleep_ns(std::uint64_t ns) {
  VirtualRank& rank = *running_;
  count_computation(rank);
  // A sleep without an end must not hide a deadlock, so it gets no time.
  if (ns < kNever - rank.local_ns_) {
    rank.local_ns_ += ns;
    schedule_.add(rank.rank_, rank.local_ns_);
  }
  suspend(rank);
  begin_computation();
}

void World::suspend(VirtualRank& rank) {
  VirtualRank* const next = choose();
  if (next == &rank) return;
  ++switches_;
  // The library's pointer is thread-local, and all fibers share the thread.
  rank.thread_rank_ = mpi_adi::is_rank_thread() ? mpi_adi::current_rank() : nullptr;
  rank.state_.leave();
  running_ = next;
  if (next != nullptr) running_number_.set(next->rank_);
  if (next == nullptr) {
    rank.fiber_->switch_to(own_fiber_);
  } else {
    next->state_.enter();
    mpi_adi::set_thread_process(next->mpi_process_, next->thread_rank_);
    rank.fiber_->switch_to(*next->fiber_);
  }
}

void World::wake(VirtualRank& rank, std::uint64_t at_ns) {
  if (rank.waits_) schedule_.add(rank.rank_, std::max(rank.local_ns_, at_ns));
}

VirtualRank* World::choose() {
  for (;;) {
    // A retry is due when another rank's time reaches it. Alone, retries would go on forever, and hide a deadlock.
    const std::uint64_t at_ns = schedule_.next_ns();
    const std::uint64_t retry_ns = retries_.next_ns();
    if (!deaths_.empty() && kBeginNs + deaths_.back().at_ns <= at_ns) {
      const Death death = deaths_.back();
      deaths_.pop_back();
      kill(*ranks_[death.rank], kBeginNs + death.at_ns);
      continue;
    }
    if (at_ns != kNever) {
      VirtualRank& rank = *ranks_[retry_ns < at_ns ? retries_.take() : schedule_.take()];
      // A waiting rank's clock advances to the event; a rank that computes or sleeps has its own time already.
      if (rank.waits_) rank.local_ns_ = std::max(rank.local_ns_, std::min(at_ns, retry_ns));
      return &rank;
    }
    if (ended_ == ranks_.size()) return nullptr;
    if (wildcards_ && wildcards_->holds() && explore()) continue;
    if (!let_waiting_ranks_poll()) report_deadlock();
  }
}

bool World::explore() {
  if (networks_.counts().sent != polled_sent_) {
    polled_sent_ = networks_.counts().sent;
    poll_rounds_ = 0;
  }
  const bool polls = std::any_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->polls_; });
  // Polls first: a rank may send a message after a poll without a result, and the choice must include this message.
  if (!polls || ++poll_rounds_ % kPollRounds == 0) {
    bool waits_for_given = false;
    if (choose_wildcard(waits_for_given)) return true;
    if (waits_for_given && (!polls || poll_rounds_ >= kPollRoundsMax)) {
      wildcards_->log_infeasible();
      end_process(kStatusInfeasible);
    }
  }
  for (const auto& rank : ranks_)
    if (rank->polls_) schedule_.add(rank->rank_, rank->local_ns_);
  return polls;
}

bool World::choose_wildcard(bool& waits_for_given) {
  for (const auto& rank : ranks_) {
    mpi_adi::MpiRank* const joined = rank->waits_ ? rank->joined() : nullptr;
    if (joined == nullptr || joined->device().held_receives() == nullptr) continue;
    for (const mpi_adi::WildcardChoice& choice : joined->device().held_receives()->choices()) {
      const std::optional<int> source = wildcards_->decide(rank->rank_, choice);
      waits_for_given |= !source;
      if (!source) continue;
      joined->device().held_receives()->choose(choice.number, *source);
      poll_rounds_ = idle_rounds_ = 0;
      schedule_.add(rank->rank_, rank->local_ns_);
      return true;
    }
  }
  return false;
}

bool World::let_waiting_ranks_poll() {
  if (networks_.counts().sent != sent_) {
    sent_ = networks_.counts().sent;
    idle_rounds_ = 0;
  }
  if (++idle_rounds_ > kIdleRoundsMax) return false;
  for (const auto& rank : ranks_) {
    // A poll that is due after thousands of rounds must not make a deadlock of them.
    const bool is_due = polls_take_time_ && rank->poll_due_ns_ != kNever;
    if (rank->waits_) schedule_.add(rank->rank_, is_due ? rank->poll_due_ns_ : rank->local_ns_);
  }
  return true;
}

}  // namespace margay::virtual_machine
