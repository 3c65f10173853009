// The check of collective calls that MARGAY_CHECK_TYPES enables (MPI 4.0, 6.1 and 6.14). The members of a communicator
// must make the same calls in the same order, with the same root, operation and amounts of the same types. A block that
// one member sends must be the block that its receiver expects. Exists only while the option is set, and covers
// communicators of the world model.
//
// Before any other step of a call, each member sends a report of it to rank 0 of the world, the judge. The judge
// compares the n-th calls of a communicator (call_match) and reports each call in which two members differ. When
// members call different functions they are out of step: from there on, the n-th call of one member no longer belongs
// to the n-th call of another. So later calls of that communicator are not compared. The reports of one process arrive
// in the order of its calls, so they carry no numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/portal/call_match.hpp"
#include "collectives/portal/call_record.hpp"
#include "collectives/portal/host.hpp"
#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/unexpected.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/boot/findings.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::collectives {

// One process's end of the check; on rank 0 of the world also the judge. TreePortal owns it. Under the process lock.
// Costs one message to the judge for each collective call of several members.
class CallCheck final : public mpi_adi::Listener {
 public:
  // Takes portal 9 of the host's table. `sent` counts the check's messages, `findings` the reported mistakes; `lines`
  // formats locations. All outlive the check. Requires: no message has arrived yet.
  CallCheck(Host& host, sim::WireCounts& sent, sim::Findings& findings, sim::SourceLines& lines);

  // The most findings that are printed; further ones are only counted.
  static constexpr std::uint64_t kLinesMax = 100;
  ~CallCheck() override;

  // Reports a call that begins. Fills in the communicator and the caller; all members of `communicator` (of both
  // groups, if there are two) make the call.
  void begin(CallReport report, const mpi_adi::Communicator& communicator);
  // Reports this process's last call, MPI_Finalize. The judge waits until every process has reported its last call, or
  // one is gone. If all have reported, it reports the calls that some members never made.
  void finish(CallReport report, const mpi_adi::Communicator& world);
  // For use after an error of this process's last call that another member's call may explain. Waits until the judge
  // has compared that call on all members or found a difference, or until `over()` returns true.
  template <typename Over>
  void settle(Over over) {
    ask();
    auto done = [&] { return settled() || over(); };
    if (!done()) host_.wait(done, 1);
  }

  // Handles the reports, questions and answers that have arrived.
  void notify() override;

 private:
  // The calls of one communicator that not all members have made yet. Erased when all members have made the same number
  // of calls.
  struct Stream {
    std::list<CallMatch> open;
    // Size of the communicator, from the first report.
    std::uint32_t members = 0;
    // Number of the first call in `open`, counted from the stream's beginning.
    std::uint64_t first = 0;
    // Calls that each member has made, by its rank in the world.
    std::unordered_map<std::uint32_t, std::uint64_t> at;
    // A difference was found: a member's error may be due to it.
    bool differs = false;
    // Members called different functions: later calls are not compared.
    bool out_of_step = false;
    // Ranks of the world that wait for an answer: settle().
    std::vector<std::uint32_t> askers;
    // Whether the sender's next call is the first open one or a later one. False only for a report that no member sent.
    [[nodiscard]] bool takes(const CallRecord& record, std::uint32_t from) const;
  };

  [[nodiscard]] bool judges() const { return host_.kernel().me().rank == kJudge; }
  // Compares a call on a communicator that contains only this process, without the judge.
  void judge_alone(CallReport report);
  // Sends a message to the judge.
  void send(std::vector<std::byte> message);
  // Asks the judge whether this process's last call has been compared with all members'.
  void ask();
  // Whether the judge has answered; on the judge itself, whether its own last call is compared.
  [[nodiscard]] bool settled() const;
  // receive_message() distinguishes reports, questions and answers. On the judge, handle_report() handles a report and
  // handle_question() a question. They discard messages that no member can have sent. `from`: rank in the world.
  void handle_report(CallReport report, std::uint32_t from);
  void receive_message(const portals::ArrivedMessage& message);
  void handle_question(const CallRecord::Key& key, std::uint32_t from);
  void answer(std::uint32_t to);
  // Adds a report to the call that it belongs to, and removes the calls that all members have made. Requires:
  // stream.takes(report.record, from).
  void compare(Stream& stream, CallReport report, std::uint32_t from);
  // Prints and counts a finding about these calls: two that differ, or one that some members never make.
  void report_mismatch(const std::string& calls, std::span<const CallMatch::Reported> of);
  // Reports, for each communicator, the first call that some members never made.
  void report_unmade();

  static constexpr std::uint32_t kJudge = 0;

  // The rank, its counts of sent messages, and the outputs of findings; they outlive the check.
  Host& host_;
  sim::WireCounts& sent_;
  sim::Findings& findings_;
  sim::SourceLines& lines_;
  // Findings printed so far; see kLinesMax.
  std::uint64_t printed_ = 0;
  // The heap of arrived reports, questions and answers, with the list that leads to it.
  mpi_adi::HeapMemory memory_;
  portals::DynamicBlock block_;
  portals::MatchList list_;
  portals::MatchEntry catch_all_;
  CallRecord::Key last_;  // communicator of this process's last call
  bool answered_ = true;  // no question of this process is unanswered
  // A message that its wire has not taken whole, with its bytes.
  struct Sending {
    std::vector<std::byte> message;
    sim::Transmission transmission;
  };
  std::list<Sending> sendings_;
  std::map<CallRecord::Key, Stream> streams_;  // used by the judge only
  std::uint32_t ended_ = 0;                    // processes that reported their last call
};

}  // namespace margay::collectives
