// The wires of one kernel, and which of them a round of progress polls.
//
// By default the fastest wire is polled in each round, and each slower one beside it at an adaptive interval
// (sim/kernel/poll_interval). The wire of a process to itself has no schedule, because it reports its messages itself.
// Users set a wire's polling by its name: PollSetting.
//
// 1. A wire that is polled in each round has no PollState in its row, and its vain polls execute nothing of this file.
//    Its number of polls is the number of rounds.
// 2. Each other wire has a countdown of rounds; rounds read no other state of it before the countdown ends.
// 3. A wire whose polling is off keeps its messages: they wait, and arrive when it is on again. It is polled
//    nevertheless while messages of this process wait on it, because sending needs polls.
// 4. A wake-up makes each wire due, because any of them may be the reason: the rank slept on descriptors or on its
// bell.
//    A yield makes adaptive wires due, because time has passed without rounds.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/poll_setting.hpp"
#include "sim/kernel/poll_interval.hpp"
#include "sim/kernel/poll_thread.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// The polling of one wire.
struct PollState {
  // Rounds that still pass without a poll. The only field that most rounds look at.
  std::uint32_t left = 0;
  bool on = true;
  // The mode is never `off`: `on` is.
  PollSetting setting;
  PollInterval interval;
  // `block` only: the thread, and the rounds since a poll that it did not ask for.
  std::unique_ptr<PollThread> thread;
  std::uint32_t rounds_blocked = 0;
  // The counts, here or on the job board.
  PollCounts own_counts;
  PollCounts* counts = &own_counts;
  // Messages of all wires when this one last had something.
  std::uint64_t hits_at_hit = 0;
  // For a wire that is polled in each round: the number of rounds when that began.
  std::uint64_t rounds_at_begin = 0;
  // The end of the latest measured poll, until the next poll; 0: none.
  std::uint64_t measured_ns = 0;
  // The beginning of the poll in progress, if it is measured; otherwise 0.
  std::uint64_t began_ns = 0;
  // The interval that the trace has.
  std::uint32_t recorded = 0;

  // Counts a round down. Returns whether the wire's turn has come.
  [[nodiscard]] bool count_down() { return left == 0 || left-- == 0; }
};

// A row of the loop over all wires.
struct PolledWire {
  Wire* wire = nullptr;
  // nullptr: polled in each round.
  PollState* scheduled = nullptr;
};

// The schedule. Owned by the kernel; used under the process lock.
class PollSchedule {
 public:
  // `wires`: each wire once, fastest first. They outlive the schedule.
  PollSchedule(const std::vector<Wire*>& wires, Recorder& recorder);
  PollSchedule(const PollSchedule&) = delete;
  PollSchedule& operator=(const PollSchedule&) = delete;

  // Adds a wire that is slower than all others, with an adaptive interval. Pointers to rows become invalid, pointers to
  // states do not.
  void add(Wire& wire);
  // The rows, in the order of the wires.
  [[nodiscard]] std::vector<PolledWire>& rows() { return rows_; }
  [[nodiscard]] const std::vector<PolledWire>& rows() const { return rows_; }

  // The steps around a scheduled wire's poll whose turn has come. begin(): whether to poll now. end(): `found`: a
  // message or a part of one; `moved`: something else, such as a queued send, for which the next round polls again.
  [[nodiscard]] bool begin(PolledWire& row);
  void end(PolledWire& row, bool found, bool moved);
  // The same after the poll of a wire that is polled in each round, if it found something. `rounds`: as in
  // update_counts().
  void count_hit(const PolledWire& row, std::uint64_t rounds) {
    PollCounts& counts = *state_of(row).counts;
    ++counts.hits, ++hits_;
    counts.polls = polls_in_each_round(state_of(row), rounds);
  }

  // For a virtual machine, which does not carry out all rounds that find nothing. polls_in_each_round(): whether each
  // round polls a wire. rounds_to_poll(): the rounds before the next one that polls another wire; kNoPoll: no such poll
  // is planned. skip_rounds(): counts down that many rounds without their polls.
  // has_thread(): a thread blocks on the wire.
  static constexpr std::uint64_t kNoPoll = ~std::uint64_t{0};
  [[nodiscard]] bool polls_in_each_round(WireId wire) const;
  [[nodiscard]] bool has_thread(WireId wire) const;
  [[nodiscard]] std::uint64_t rounds_to_poll() const;
  void skip_rounds(std::uint64_t rounds);

  // See invariant 4. `yielded`: a yield, no wake-up.
  void make_due(bool yielded);
  // On a virtual machine a yield counts as a wake-up: it passes the turn until the next event of this rank.
  void treat_yields_as_wakes() { yields_wake_ = true; }

  // Sets how a wire is polled. `off` equals switch_polling(wire, false); any other mode switches polling on. A wire
  // that margay has but this process does not is ignored (tcp in a job of one node); counts of it are 0. Fails with the
  // names of the wires for any other name; for `block` on a wire whose descriptor no other thread may wait for, and on
  // a process that set_wake() has given no wake-up. `rounds`: as in update_counts().
  [[nodiscard]] portals::Status set(std::string_view wire, const PollSetting& setting, std::uint64_t rounds);
  // Switches the polling of a wire off, and on again at its earlier setting.
  [[nodiscard]] portals::Status switch_polling(std::string_view wire, bool on, std::uint64_t rounds);
  // Applies parsed settings one after the other; stops at the first failure.
  [[nodiscard]] portals::Status apply(const std::vector<NamedPollSetting>& settings, std::uint64_t rounds);
  // Switches on all wires, for a process that ends.
  void switch_all_on(std::uint64_t rounds);
  // The settings of all wires, as parse_poll_settings() reads them: "shm=1,tcp=adaptive".
  [[nodiscard]] std::string describe_settings() const;
  // The names of the wires that are switched off: "tcp"; empty: none.
  [[nodiscard]] std::string switched_off() const;

  // Whether a wait may sleep on the wire's descriptor: its polling is on, or messages of this process wait on it. A
  // descriptor that nobody polls stays readable, and would end each sleep at once.
  [[nodiscard]] bool is_awaited(const Wire& wire) const;

  // The wake-up of a process for threads that block on wires. Any thread calls it.
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }
  // Moves the counts of the wire `row` to `counts`, which outlive the schedule.
  void count_in(const PolledWire& row, PollCounts& counts);
  // Brings the counts of wires that are polled in each round up to date. `rounds`: the kernel's number of rounds so
  // far.
  void update_counts(std::uint64_t rounds);
  // Records the measured cost of one poll that found nothing; for a wire that is polled in each round, which end() does
  // not measure.
  void record_cost(const PolledWire& row, double ns);
  // The polling of a row's wire.
  [[nodiscard]] PollState& state_of(const PolledWire& row) { return states_[index_of(row)]; }
  [[nodiscard]] const PollState& state_of(const PolledWire& row) const { return states_[index_of(row)]; }
  // Whether the wire takes part: all do except the one of a process to itself, and that of forwarded messages, which
  // arrive by other wires. These two cost nothing while they have nothing, and are polled in each round.
  [[nodiscard]] static bool is_polled(WireId wire) { return wire != WireId::self && wire != WireId::forward; }
  [[nodiscard]] static bool is_polled(const Wire& wire) { return is_polled(wire.id()); }
  // The row of a wire by its name; nullptr: this process does not poll it. The message names the wires if margay does
  // not have it either.
  [[nodiscard]] portals::Status find(std::string_view wire, PolledWire*& out);

 private:
  // Whether the wire simulates the thread of PollMode::block.
  [[nodiscard]] static bool has_simulated_thread(const PolledWire& row) {
    return row.scheduled->on && row.scheduled->setting.mode == PollMode::block && row.wire->simulates_thread();
  }
  [[nodiscard]] std::size_t index_of(const PolledWire& row) const {
    return static_cast<std::size_t>(&row - rows_.data());
  }
  [[nodiscard]] static std::uint64_t polls_in_each_round(const PollState& state, std::uint64_t rounds) {
    return rounds - state.rounds_at_begin;
  }
  [[nodiscard]] portals::Status begin_thread(const PolledWire& row);
  // Puts the row's state into force after a change.
  void enforce(PolledWire& row, std::uint64_t rounds);
  // Updates interval and mode of the counts, and records a change.
  void publish(const PolledWire& row);

  const Clock& clock_;
  Recorder& recorder_;
  std::vector<PolledWire> rows_;
  // By row. A deque, because rows_ and each state's `counts` refer to elements.
  std::deque<PollState> states_;
  // Polls of all wires that found something.
  std::uint64_t hits_ = 0;
  bool yields_wake_ = false;
  std::function<void()> wake_;
};

}  // namespace margay::sim
