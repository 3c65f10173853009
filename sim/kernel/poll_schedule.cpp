#include "sim/kernel/poll_schedule.hpp"

#include <algorithm>

namespace margay::sim {

using portals::Status;

namespace {

// Rounds between checks of a switched-off wire for queued messages of this process.
constexpr std::uint32_t kOffRounds = 8;
// A wire with a thread is polled once in this many rounds without its thread, for its own time limits: dials, and
// peers that have become silent.
constexpr std::uint32_t kBlockRounds = 1U << 16;
// One poll in this many is timed, because reading the clock costs as much as some polls.
constexpr std::uint64_t kPollsPerMeasurement = 8;

// The names of all wires that take part: "shm, tcp".
std::string all_wire_names() {
  std::string names;
  for (std::size_t id = 0; id < kWireCount; ++id) {
    if (!PollSchedule::is_polled(static_cast<WireId>(id))) continue;
    names += (names.empty() ? "" : ", ") + std::string(name(static_cast<WireId>(id)));
  }
  return names;
}

bool is_wire_name(std::string_view wire) {
  for (std::size_t id = 0; id < kWireCount; ++id) {
    if (PollSchedule::is_polled(static_cast<WireId>(id)) && wire == name(static_cast<WireId>(id))) return true;
  }
  return false;
}

}  // namespace

PollSchedule::PollSchedule(const std::vector<Wire*>& wires, Recorder& recorder)
    : clock_(recorder.clock()), recorder_(recorder) {
  for (Wire* wire : wires) add(*wire);
}

void PollSchedule::add(Wire& wire) {
  const bool is_first = std::ranges::none_of(rows_, [](const PolledWire& row) { return is_polled(*row.wire); });
  rows_.push_back({&wire, nullptr});
  PollState& state = states_.emplace_back();
  if (!is_polled(wire)) return;
  state.setting = {is_first ? PollMode::fixed : PollMode::adaptive, 1};
  state.interval.set(state.setting);
  state.recorded = state.interval.rounds();
  enforce(rows_.back(), 0);
}

bool PollSchedule::begin(PolledWire& row) {
  PollState& state = state_of(row);
  if (!state.on) {
    state.left = kOffRounds - 1;
    if (row.wire->idle()) return false;
  } else if (has_simulated_thread(row)) {
    if (!row.wire->thread_has_seen() && row.wire->idle()) return false;
  } else if (state.thread != nullptr && !state.thread->due() && !row.wire->needs_push()) {
    if (++state.rounds_blocked < kBlockRounds) return false;
    state.rounds_blocked = 0;
  }
  const bool measured = state.counts->polls++ % kPollsPerMeasurement == 0;
  state.began_ns = 0;
  if (!measured && state.measured_ns == 0) return true;
  const std::uint64_t now = clock_.now_ns();
  if (state.measured_ns != 0 && state.interval.rounds() > 1) {
    state.interval.record_round(static_cast<double>(now - state.measured_ns) / (state.interval.rounds() - 1));
  }
  state.measured_ns = 0;
  if (measured) state.began_ns = now;
  return true;
}

void PollSchedule::end(PolledWire& row, bool found, bool moved) {
  PollState& state = state_of(row);
  if (found) {
    ++state.counts->hits;
    state.interval.record_hit(hits_ - state.hits_at_hit);
    state.hits_at_hit = ++hits_;
  } else {
    if (state.began_ns != 0) {
      state.measured_ns = clock_.now_ns();
      state.interval.record_cost(static_cast<double>(state.measured_ns - state.began_ns));
    }
    state.counts->wasted_ns += static_cast<std::uint64_t>(state.interval.cost_ns());
    if (state.thread != nullptr) state.thread->polled();
  }
  if (!state.on) return;
  if (state.interval.choose(hits_ - state.hits_at_hit)) publish(row);
  // More may have arrived, and an answer to a message that was just sent may arrive soon.
  const bool again = (found || moved) && state.setting.mode != PollMode::fixed;
  state.left = again || state.thread != nullptr ? 0 : state.interval.rounds() - 1;
  // A round that polls again is no measure of a round without a poll.
  if (again) state.measured_ns = 0;
}

bool PollSchedule::polls_in_each_round(WireId wire) const {
  return std::ranges::any_of(rows_,
                             [&](const PolledWire& row) { return row.wire->id() == wire && row.scheduled == nullptr; });
}

bool PollSchedule::has_thread(WireId wire) const {
  return std::ranges::any_of(rows_, [&](const PolledWire& row) {
    return row.wire->id() == wire && row.scheduled != nullptr && has_simulated_thread(row);
  });
}

std::uint64_t PollSchedule::rounds_to_poll() const {
  std::uint64_t rounds = kNoPoll;
  for (const PolledWire& row : rows_) {
    if (row.scheduled == nullptr || (!row.scheduled->on && row.wire->idle())) continue;
    if (has_simulated_thread(row) && row.wire->idle() && !row.wire->thread_has_seen()) continue;
    rounds = std::min<std::uint64_t>(rounds, row.scheduled->left);
  }
  return rounds;
}

void PollSchedule::skip_rounds(std::uint64_t rounds) {
  for (const PolledWire& row : rows_) {
    if (row.scheduled == nullptr) continue;
    row.scheduled->left -= static_cast<std::uint32_t>(std::min<std::uint64_t>(row.scheduled->left, rounds));
  }
}

void PollSchedule::make_due(bool yielded) {
  for (PolledWire& row : rows_) {
    if (row.scheduled == nullptr || !row.scheduled->on) continue;
    if (yielded && !yields_wake_ && !row.scheduled->interval.adaptive()) continue;
    row.scheduled->left = 0;
    row.scheduled->measured_ns = 0;
  }
}

Status PollSchedule::find(std::string_view wire, PolledWire*& out) {
  out = nullptr;
  for (PolledWire& row : rows_) {
    if (is_polled(*row.wire) && name(row.wire->id()) == wire) out = &row;
  }
  if (out != nullptr || is_wire_name(wire)) return {};
  return Status::error("unknown wire \"" + std::string(wire) + "\"; the wires are " + all_wire_names());
}

Status PollSchedule::begin_thread(const PolledWire& row) {
  const std::string wire(name(row.wire->id()));
  if (row.wire->simulates_thread()) return {};
  if (!row.wire->wakes_other_threads()) {
    return Status::error("no thread can block on the wire " + wire +
                         (row.wire->wait_descriptor() < 0
                              ? ": it has no descriptor; give it an interval"
                              : " with its present driver; choose another one (--wire-tcp epoll), or an interval"));
  }
  if (!wake_) return Status::error("no thread can block on the wire " + wire + " under margay simulate");
  auto thread = std::make_unique<PollThread>();
  if (Status status = thread->start(row.wire->wait_descriptor(), wake_); !status.ok()) return status;
  state_of(row).thread = std::move(thread);
  return {};
}

Status PollSchedule::set(std::string_view wire, const PollSetting& setting, std::uint64_t rounds) {
  if (setting.mode == PollMode::off) return switch_polling(wire, false, rounds);
  PolledWire* row = nullptr;
  if (Status status = find(wire, row); !status.ok() || row == nullptr) return status;
  PollState& state = state_of(*row);
  if (setting.mode != PollMode::block) {
    state.thread.reset();
  } else if (state.thread == nullptr) {
    if (Status status = begin_thread(*row); !status.ok()) return status;
  }
  state.setting = setting;
  state.interval.set(setting);
  state.on = true;
  enforce(*row, rounds);
  return {};
}

Status PollSchedule::switch_polling(std::string_view wire, bool on, std::uint64_t rounds) {
  PolledWire* row = nullptr;
  if (Status status = find(wire, row); !status.ok() || row == nullptr) return status;
  if (state_of(*row).on == on) return {};
  state_of(*row).on = on;
  enforce(*row, rounds);
  return {};
}

Status PollSchedule::apply(const std::vector<NamedPollSetting>& settings, std::uint64_t rounds) {
  for (const NamedPollSetting& named : settings) {
    if (Status status = set(named.wire, named.setting, rounds); !status.ok()) return status;
  }
  return {};
}

void PollSchedule::switch_all_on(std::uint64_t rounds) {
  for (PolledWire& row : rows_) {
    if (state_of(row).on) continue;
    state_of(row).on = true;
    enforce(row, rounds);
  }
}

void PollSchedule::enforce(PolledWire& row, std::uint64_t rounds) {
  PollState& state = state_of(row);
  const bool was_in_each_round = row.scheduled == nullptr;
  const bool in_each_round = state.on && state.setting == PollSetting{PollMode::fixed, 1};
  if (was_in_each_round) state.counts->polls = polls_in_each_round(state, rounds);
  state.rounds_at_begin = rounds - state.counts->polls;
  state.left = 0;
  state.measured_ns = 0;
  row.scheduled = in_each_round ? nullptr : &state;
  publish(row);
}

void PollSchedule::publish(const PolledWire& row) {
  PollState& state = state_of(row);
  const PollMode mode = state.on ? state.setting.mode : PollMode::off;
  const bool is_counted = mode == PollMode::fixed || mode == PollMode::adaptive;
  state.counts->interval = is_counted ? state.interval.rounds() : 0;
  state.counts->mode = static_cast<std::uint32_t>(mode);
  if (state.counts->interval == state.recorded) return;
  const std::uint32_t before = std::exchange(state.recorded, state.counts->interval);
  if (!recorder_.on()) return;
  TraceEvent event;
  event.kind = TraceKind::poll_interval_changed;
  event.wire = static_cast<std::uint8_t>(row.wire->id());
  event.reason = static_cast<std::uint8_t>(mode);
  event.a = state.recorded;
  event.b = before;
  event.detail = static_cast<std::uint64_t>(state.interval.cost_ns());
  event.bytes = hits_ - state.hits_at_hit;
  recorder_.record(event);
}

std::string PollSchedule::describe_settings() const {
  std::string text;
  for (const PolledWire& row : rows_) {
    if (!is_polled(*row.wire)) continue;
    const PollState& state = state_of(row);
    text += (text.empty() ? "" : ",") + std::string(name(row.wire->id())) + "=" +
            describe(state.on ? state.setting : PollSetting{PollMode::off, 1});
  }
  return text;
}

std::string PollSchedule::switched_off() const {
  std::string names;
  for (const PolledWire& row : rows_) {
    if (!state_of(row).on) names += (names.empty() ? "" : ", ") + std::string(name(row.wire->id()));
  }
  return names;
}

bool PollSchedule::is_awaited(const Wire& wire) const {
  return std::ranges::none_of(
      rows_, [&](const PolledWire& row) { return row.wire == &wire && !state_of(row).on && wire.idle(); });
}

void PollSchedule::count_in(const PolledWire& row, PollCounts& counts) {
  PollState& state = state_of(row);
  counts = *state.counts;
  state.counts = &counts;
}

void PollSchedule::update_counts(std::uint64_t rounds) {
  for (const PolledWire& row : rows_) {
    PollState& state = state_of(row);
    if (row.scheduled != nullptr || !is_polled(*row.wire)) continue;
    state.counts->polls = polls_in_each_round(state, rounds);
    const std::uint64_t vain = state.counts->polls - std::min(state.counts->hits, state.counts->polls);
    state.counts->wasted_ns = static_cast<std::uint64_t>(static_cast<double>(vain) * state.interval.cost_ns());
  }
}

void PollSchedule::record_cost(const PolledWire& row, double ns) {
  state_of(row).interval.record_cost(ns);
}

}  // namespace margay::sim
