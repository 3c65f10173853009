#include "command/trace/export/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace margay::command {

namespace {

using portals::Status;

constexpr std::size_t kUnknown = MessageStory::kNone;
constexpr double kNsPerSecond = 1e9;

// Whether a portal serves collective calls, by its definition in the trace. Messages of collective calls are awaited,
// although no MPI receive takes them.
bool serves_collectives(const TraceNames& names, std::uint32_t file, std::uint8_t portal) {
  return names.portal(file, portal).find("(collective ") != std::string::npos;
}

// Collects each rank's actions with their positions in the trace, then orders them.
class ReplayMaker {
 public:
  ReplayMaker(const ExportSource& source, double flops_per_second, Replay& replay)
      : source_(source), trace_(source.trace), flops_per_ns_(flops_per_second / kNsPerSecond), replay_(replay) {}

  void run(const std::vector<MessageStory>& stories) {
    actions_.resize(trace_.files.size());
    enters_.resize(trace_.files.size());
    add_computing();
    for (const MessageStory& story : stories) add_message(story);
    add_shared_calls();
    for (std::size_t file = 0; file < actions_.size(); ++file) finish(file);
  }

 private:
  struct Action {
    std::size_t at;  // in trace.entries
    std::string text;
  };

  void add(std::size_t at, std::string text) { actions_[trace_.entries[at].file].push_back({at, std::move(text)}); }

  // Adds computation: the time in which no thread of a rank is in a call.
  void add_computing() {
    const Timeline timeline = timeline_of(trace_, source_.messages);
    std::vector<std::optional<std::uint64_t>> left_ns(trace_.files.size());
    for (const TimeSpan& call : timeline.calls) {
      if (call.depth != 0) continue;
      const std::uint64_t entered = trace_.entries[call.begin].event.time;
      std::optional<std::uint64_t>& left = left_ns[call.file];
      if (left && entered > *left) {
        const double flops = std::round(static_cast<double>(entered - *left) * flops_per_ns_);
        add(call.begin, fmt::format("compute {:.0f}", flops));
      }
      left = std::max(left.value_or(0), trace_.entries[call.end].event.time);
      enters_[call.file].push_back(call.begin);
    }
  }

  // Entry `at` if it is inside a call; otherwise the rank's next call, to which the replay moves an action that the
  // library took between two calls.
  [[nodiscard]] std::size_t in_a_call(std::size_t at) const {
    if (source_.messages.call_around(at) != kUnknown) return at;
    const std::vector<std::size_t>& enters = enters_[trace_.entries[at].file];
    const auto next = std::lower_bound(enters.begin(), enters.end(), at);
    return next == enters.end() ? at : *next;
  }

  // The entry at which a message without a receive is complete in memory: its last deposit or, for a message without a
  // body, its match.
  [[nodiscard]] std::size_t landed(const MessageStory& story) const {
    std::size_t at = kUnknown;
    for (const std::size_t step : story.steps) {
      const sim::TraceEvent& event = trace_.entries[step].event;
      if (identity(event) != story.identity) continue;
      if (event.kind == sim::TraceKind::kernel_match || event.kind == sim::TraceKind::kernel_deposit) at = step;
    }
    return at;
  }

  void add_message(const MessageStory& story) {
    const std::size_t from = story.sent;
    if (from == kUnknown || story.taken_back) return skip_message(story);
    const Trace::Entry& entry = trace_.entries[from];
    const bool is_put = entry.event.header == static_cast<std::uint8_t>(portals::Kind::put);
    const bool is_received = story.posted != kUnknown && source_.names.is_envelope(entry.file, entry.event.portal);
    const bool is_collective = serves_collectives(source_.names, entry.file, entry.event.portal);
    const std::size_t received = is_received ? story.received : is_collective ? landed(story) : kUnknown;
    if (!is_put || received == kUnknown) return skip_message(story);
    const auto& [source, destination, number] = story.identity;
    // SimGrid's tags have 31 bits. The numbers of different ways are kept apart in the upper ones.
    const std::uint64_t sequence = std::uint64_t{sim::way_of(number)} << 27U | sim::position_of(number);
    // A send is always an isend here; finish() joins it with a wait that follows at once.
    add(in_a_call(from), fmt::format("isend {} {} {}", destination, sequence, entry.event.bytes));
    const std::string wait = fmt::format("wait {} {} {}", source, destination, sequence);
    if (story.completed != kUnknown) add(in_a_call(story.completed), wait);
    const std::string arguments = fmt::format("{} {} {}", source, sequence, entry.event.bytes);
    if (!is_received) return add(in_a_call(received), "recv " + arguments);
    add(story.posted, "irecv " + arguments);
    add(in_a_call(received), wait);
  }
  void skip_message(const MessageStory& story) {
    // A story with neither a send_begin nor an arrival is an answer whose message is not in the trace. It is not
    // counted, because it was not a message of the program.
    const bool is_root = story.begin != kUnknown || story.arrived != kUnknown;
    replay_.left_out_messages += is_root ? 1 : 0;
  }

  // A collective call in a node's memory. Data that a rank read from another rank counts as a message of the same
  // length. The message is sent at the writer's last event of this call before the read. A barrier has no data.
  struct SharedCall {
    std::map<std::uint32_t, std::vector<std::size_t>> events;  // by file
    std::vector<std::size_t> reads;
  };
  // The key of a call: context, members, number. Communicators without a common member may have the same context, and a
  // later communicator may reuse it; each counts its calls from the beginning. So the key includes the communicator's
  // members. Several calls with the same key are numbered from the trace's beginning, or from its end if events were
  // overwritten.
  using CallName = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;
  [[nodiscard]] CallName name_of(const Trace::Entry& entry) const {
    const std::uint32_t context = split_envelope(entry.event.match_bits).context;
    const auto members = source_.names.members_number(entry.file, context, entry.event.time);
    return {context, members.value_or(0), entry.event.a};
  }
  void add_shared_calls() {
    std::map<std::pair<CallName, std::uint32_t>, std::vector<std::vector<std::size_t>>> parts;  // by file
    for (std::size_t i = 0; i < trace_.entries.size(); ++i) {
      const Trace::Entry& entry = trace_.entries[i];
      const sim::TraceKind kind = entry.event.kind;
      replay_.left_out_accesses += kind == sim::TraceKind::window_access ? 1 : 0;
      const bool is_shared = kind == sim::TraceKind::shared_write || kind == sim::TraceKind::shared_read;
      if (!is_shared && kind != sim::TraceKind::collective_begin) continue;
      auto& of_rank = parts[{name_of(entry), entry.file}];
      if (!is_shared || of_rank.empty()) of_rank.emplace_back();
      if (is_shared) of_rank.back().push_back(i);
    }
    const bool from_end =
        std::any_of(trace_.files.begin(), trace_.files.end(), [](const TraceFile& file) { return file.lost != 0; });
    std::map<std::pair<CallName, std::size_t>, SharedCall> calls;
    for (const auto& [name, of_rank] : parts) {
      for (std::size_t age = 0; age < of_rank.size(); ++age) {
        if (of_rank[age].empty()) continue;
        SharedCall& call = calls[{name.first, from_end ? of_rank.size() - age : age}];
        add_part(call, name.second, of_rank[age]);
      }
    }
    for (const auto& [name, call] : calls) add_shared_call(call);
  }
  void add_part(SharedCall& call, std::uint32_t file, const std::vector<std::size_t>& events) const {
    call.events[file] = events;
    for (const std::size_t at : events) {
      const sim::TraceEvent& event = trace_.entries[at].event;
      const bool is_others = event.kind == sim::TraceKind::shared_read && event.source != event.destination;
      if (is_others && event.bytes != 0) call.reads.push_back(at);
    }
  }
  // A read cannot be placed in the replay if no event of its writer precedes it.
  void add_shared_call(const SharedCall& call) {
    if (call.reads.empty()) return add_barrier(call);
    for (const std::size_t read : call.reads) {
      const sim::TraceEvent& event = trace_.entries[read].event;
      const std::vector<std::size_t>* const writers = events_of(call, event.source);
      const auto after = writers == nullptr ? std::vector<std::size_t>::const_iterator()
                                            : std::lower_bound(writers->begin(), writers->end(), read);
      if (writers == nullptr || after == writers->begin()) {
        ++replay_.left_out_messages;
        continue;
      }
      // Numbers descend from the highest, so that they differ from the sequence numbers of messages.
      const std::uint64_t number = kLastNumber - shared_numbers_[{event.source, event.destination}]++;
      add(*std::prev(after), fmt::format("isend {} {} {}", event.destination, number, event.bytes));
      add(read, fmt::format("recv {} {} {}", event.source, number, event.bytes));
    }
  }
  [[nodiscard]] const std::vector<std::size_t>* events_of(const SharedCall& call, std::uint32_t rank) const {
    for (const auto& [file, events] : call.events) {
      if (trace_.files[file].rank == rank) return &events;
    }
    return nullptr;
  }
  // A call without any read is a barrier if all ranks took part in it without data.
  void add_barrier(const SharedCall& call) {
    bool is_barrier = call.events.size() == trace_.files.size();
    for (const auto& [file, events] : call.events) {
      const std::size_t enter = source_.messages.call_around(events.front());
      is_barrier =
          is_barrier && events.size() == 1 && trace_.entries[events.front()].event.bytes == 0 && enter != kUnknown;
    }
    if (!is_barrier) {
      ++replay_.left_out_calls;
      return;
    }
    for (const auto& [file, events] : call.events) add(events.front(), "barrier");
  }

  // Writes a rank's actions by time, between init and finalize. A send or receive with its wait right behind it becomes
  // one blocking action.
  void finish(std::size_t file) {
    std::vector<Action>& actions = actions_[file];
    std::stable_sort(actions.begin(), actions.end(),
                     [](const Action& one, const Action& other) { return one.at < other.at; });
    const std::uint32_t rank = trace_.files[file].rank;
    std::vector<std::string>& lines = replay_.ranks[rank];
    lines.push_back(fmt::format("{} init", rank));
    for (const Action& action : actions) {
      const std::string line = fmt::format("{} {}", rank, action.text);
      if (action.text.starts_with("wait ") && is_wait_for(lines.back(), action.text, rank)) {
        // isend becomes send.
        lines.back().erase(lines.back().find(" i") + 1, 1);
      } else {
        lines.push_back(line);
      }
    }
    lines.push_back(fmt::format("{} finalize", rank));
  }
  // Whether `wait` completes the isend or irecv in `line`. Compares texts: the expected wait is made of the fields of
  // `line`.
  static bool is_wait_for(const std::string& line, std::string_view wait, std::uint32_t rank) {
    std::vector<std::string_view> fields;
    for (std::string_view rest = line; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      fields.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (fields.size() < 4) return false;
    // For a message from a rank to itself the wait is that of the receive.
    if (fields[1] == "isend" && fields[2] != fields[0])
      return wait == fmt::format("wait {} {} {}", rank, fields[2], fields[3]);
    return fields[1] == "irecv" && wait == fmt::format("wait {} {} {}", fields[2], rank, fields[3]);
  }

  // The highest signed 32-bit number, because a tag is one.
  static constexpr std::uint64_t kLastNumber = (std::uint64_t{1} << 31U) - 1;

  const ExportSource& source_;
  const Trace& trace_;
  double flops_per_ns_;
  Replay& replay_;
  // By file.
  std::vector<std::vector<Action>> actions_;
  // By file: outermost calls.
  std::vector<std::vector<std::size_t>> enters_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> shared_numbers_;
};

}  // namespace

Status replay_of(const ExportSource& source, const std::vector<MessageStory>& stories, double flops_per_second,
                 Replay& replay) {
  const Trace& trace = source.trace;
  std::set<std::uint32_t> ranks;
  for (const TraceFile& file : trace.files) ranks.insert(file.rank);
  for (std::uint32_t rank = 0; rank < trace.files.front().size; ++rank) {
    if (ranks.contains(rank)) continue;
    return Status::error(fmt::format("trace: a replay needs all {} ranks, and rank {} has no file in the folder",
                                     trace.files.front().size, rank));
  }
  const bool has_calls = std::any_of(trace.entries.begin(), trace.entries.end(), [](const Trace::Entry& entry) {
    return entry.event.kind == sim::TraceKind::mpi_enter;
  });
  if (!has_calls) return Status::error("trace: the trace has no MPI call, so there is nothing to replay");
  replay = Replay();
  replay.ranks.resize(trace.files.front().size);
  ReplayMaker(source, flops_per_second, replay).run(stories);
  return {};
}

Status write_smpi_ti(const Replay& replay, const std::string& folder) {
  const auto put = [&](const std::string& name, const std::vector<std::string>& lines) {
    const std::string path = folder + "/" + name;
    std::ofstream file(path, std::ios::binary);
    for (const std::string& line : lines) file << line << '\n';
    file.close();
    return file ? Status()
                : Status::error(fmt::format("trace: {}: could not be written: {}", path, std::strerror(errno)));
  };
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < replay.ranks.size(); ++rank) {
    names.push_back(fmt::format("rank_{:05}.ti", rank));
    if (Status status = put(names.back(), replay.ranks[rank]); !status.ok()) return status;
  }
  return put("actions", names);
}

}  // namespace margay::command
