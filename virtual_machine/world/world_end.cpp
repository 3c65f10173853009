// The ends of ranks and of the run (world.hpp): exits, deaths, deadlocks, and the reports about them.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "mpi/process/machine.hpp"
#include "mpi_adi/rank/current.hpp"
#include "sim/kernel/kernel.hpp"
#include "virtual_machine/world/trace_folder.hpp"
#include "virtual_machine/world/world.hpp"

namespace margay::virtual_machine {

namespace {

// The accounting law is checked for each ordered pair up to this number of ranks, because the time is its square.
constexpr std::size_t kPairsCheckedMax = 1'024;

}  // namespace

void World::exit_rank(int status) {
  VirtualRank& rank = *running_;
  count_computation(rank);
  // MPI_Abort and fatal errors have printed their message, and end all ranks.
  if (add_abort(rank)) end_process(status);
  if (mpi::is_machine_held(rank.mpi_process_)) {
    const std::string message = "rank " + std::to_string(rank.rank_) + " exited with status " + std::to_string(status) +
                                " without MPI_Finalize";
    report_.findings.push_back({sim::Finding::no_finalize, {rank.rank_}, message});
    fail(message, status == 0 ? EXIT_FAILURE : status);
  }
  mpi::end_machine_of(rank.mpi_process_);
  rank.status_ = status;
  rank.ended_ = true;
  ++ended_;
  // No event makes an ended rank continue.
  suspend(rank);
  std::abort();
}

bool World::add_abort(VirtualRank& rank) {
  mpi_adi::MpiRank* const joined = rank.joined();
  if (joined == nullptr || joined->process().board().state != sim::RankState::aborting) return false;
  const sim::BoardBlock& board = joined->process().board();
  const auto finding = board.abort_finding == 0 ? sim::Finding::aborted : sim::Finding{board.abort_finding};
  report_.findings.push_back({finding, {rank.rank_}, board.message.data()});
  return true;
}

void World::fail(std::string message, int status) {
  if (status > kSignalStatus && running_ != nullptr)
    report_.findings.push_back({sim::Finding::rank_died, {running_->rank_}, message});
  // From here on replaced functions call libc's (in_rank()).
  running_ = nullptr;
  write_partial_lines();
  std::fprintf(stderr, "margay simulate: %s\n", message.c_str());
  if (report_.findings.empty()) report_.error = std::move(message);
  end_process(status);
}

void World::write_partial_lines() {
  for (const auto& rank : ranks_) rank->state_.output().write_partial_lines();
}

void World::end_process(int status) {
  // A child that the library has forked ends without a trace.
  if (::getpid() != process_) ::syscall(SYS_exit_group, status);
  if (RankState* const entered = RankState::entered(); entered != nullptr) entered->leave();
  // Unless the rank's end has a finding already.
  const auto is_of_running = [this](const ReportedFinding& finding) {
    return std::ranges::find(finding.ranks, running_->rank_) != finding.ranks.end();
  };
  if (running_ != nullptr && std::ranges::none_of(report_.findings, is_of_running))
    static_cast<void>(add_abort(*running_));
  running_ = nullptr;
  write_partial_lines();
  write_loads();
  const int written_status = write_report(status);
  std::fflush(nullptr);
  ::_exit(written_status);
}

void World::kill(VirtualRank& rank, std::uint64_t at_ns) {
  if (rank.ended_) return;
  rank.ended_ = rank.killed_ = true;
  rank.waits_ = rank.computes_ = rank.polls_ = false;
  ++ended_;
  rank.status_ = kSignalStatus + SIGKILL;
  // Computation beyond that time has not taken place.
  rank.local_ns_ = at_ns;
  schedule_.remove(rank.rank_);
  retries_.remove(rank.rank_);
  const std::string message = "rank " + std::to_string(rank.rank_) + " was killed at " +
                              std::to_string(at_ns - kBeginNs) + " ns of virtual time (--kill)";
  // The line must not get the label of the rank that runs.
  RankState* const entered = RankState::entered();
  if (entered != nullptr) entered->leave();
  std::fprintf(stderr, "margay simulate: %s%s\n", message.c_str(), sim::id_suffix(sim::Finding::rank_died).c_str());
  if (entered != nullptr) entered->enter();
  report_.findings.push_back({sim::Finding::rank_died, {rank.rank_}, message});
  networks_.lose(rank.rank_, "its process has ended");
  for (const auto& other : ranks_) wake(*other, at_ns);
}

void World::report_deadlock() {
  // The cause may be a dropped ready send, for whose message a rank waits.
  for (const auto& rank : ranks_)
    if (!rank->ended_ && rank->joined() != nullptr) rank->joined()->report_dropped_sends();
  const std::string message = "deadlock: all ranks wait, and no message is in flight";
  report_.findings.push_back({sim::Finding::deadlock, {}, message});
  ReportedFinding& found = report_.findings.back();
  std::string text = "margay simulate: " + message + sim::id_suffix(sim::Finding::deadlock) + "\n";
  for (const auto& rank : ranks_) {
    if (!rank->ended_) found.ranks.push_back(rank->rank_);
    text += "  rank " + std::to_string(rank->rank_);
    if (rank->ended_) {
      text += rank->killed_ ? " was killed\n" : " has ended\n";
    } else if (rank->mpi_process_.rank() == nullptr) {
      text += " is outside of MPI\n";
    } else {
      text += " in " + std::string(sim::name_in(rank->joined()->process().board().mpi_call)) + "\n";
      rank->joined()->device().describe(text, 6);
    }
  }
  if (RankState* const entered = RankState::entered(); entered != nullptr) entered->leave();
  write_partial_lines();
  std::fputs(text.c_str(), stderr);
  end_process(EXIT_FAILURE);
}

bool World::settle_accounts() {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& rank : ranks_) {
      // It may be suspended in the middle of its progress.
      if (rank->killed_) continue;
      if (mpi_adi::MpiRank* const joined = rank->joined(); joined != nullptr) moved |= joined->device().progress();
    }
  }
  networks_.drop_lost();
  const sim::VirtualCounts counts = networks_.counts();
  if (counts.sent != counts.delivered + counts.lost) return false;
  // The registers of a pair do not count lost messages.
  return counts.lost != 0 || ranks_.size() > kPairsCheckedMax || are_registers_right();
}

bool World::are_registers_right() const {
  for (const auto& from : ranks_) {
    for (const auto& to : ranks_) {
      if (from->joined() == nullptr || to->joined() == nullptr) continue;
      const sim::Registers& receiver = to->joined()->process().kernel().registers();
      const sim::Registers& sender = from->joined()->process().kernel().registers();
      for (std::size_t each = 0; each < (sender.has_ways() ? sim::kWayCodes : 1); ++each) {
        const auto way = static_cast<sim::WayCode>(each);
        const sim::DropCounts drops = receiver.dropped(from->rank_, way);
        const std::uint64_t dropped = std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
        if (sender.sent(to->rank_, way) != receiver.delivered(from->rank_, way) + dropped) return false;
      }
    }
  }
  return true;
}

std::uint64_t World::elapsed_ns() const {
  std::uint64_t last_ns = kBeginNs;
  for (const auto& rank : ranks_) last_ns = std::max(last_ns, rank->local_ns_);
  return last_ns - kBeginNs;
}

void World::print_summary() const {
  std::fprintf(stderr, "margay simulate: %zu ranks on %s: %.6f s, %llu messages, %llu switches\n", ranks_.size(),
               machine_.name.c_str(), static_cast<double>(elapsed_ns()) * 1e-9,
               static_cast<unsigned long long>(networks_.counts().sent), static_cast<unsigned long long>(switches_));
}

int World::write_report(int status) {
  report_.exit_status = status;
  report_.virtual_ns = elapsed_ns();
  report_.messages = networks_.counts().sent;
  report_.bytes = bytes_;
  report_.switches = switches_;
  report_.ways = networks_.report();
  const portals::Status written = virtual_machine::write_report(settings_.report, report_);
  if (written.ok()) return status;
  std::fprintf(stderr, "margay simulate: %s\n", written.sentence().c_str());
  return status == 0 ? 1 : status;
}

void World::write_loads() const {
  if (loads_ != nullptr) write_network_file(settings_.trace_dir, model_, *loads_);
}

}  // namespace margay::virtual_machine
