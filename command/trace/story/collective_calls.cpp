#include "command/trace/story/collective_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace margay::command {

namespace {

constexpr std::size_t kNoSuchEntry = CollectivePart::kNone;

// A disjoint-set forest of parts that belong to one call. Communicators without a common member may have the same
// context, so parts with equal context and number may belong to different calls. They are joined if exactly as many
// ranks have such parts as the communicator has members. Otherwise they are joined only by evidence: a message, or a
// read of shared memory.
class Groups {
 public:
  explicit Groups(std::size_t parts) : parents_(parts) { std::iota(parents_.begin(), parents_.end(), 0); }
  std::size_t of(std::size_t part) {
    // Halves the path, so that lookups stay short.
    while (parents_[part] != part) part = parents_[part] = parents_[parents_[part]];
    return part;
  }
  void join(std::size_t one, std::size_t other) { parents_[of(one)] = of(other); }

 private:
  std::vector<std::size_t> parents_;
};

// A name is a context, a number and a rank. PartIndex lists the parts by name; parts with the same name keep their
// order.
using Name = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
class PartIndex {
 public:
  // Indexes the parts whose communicator's members are not known.
  PartIndex(const CollectiveInput& input, const std::vector<bool>& is_known) : input_(input) {
    const auto& parts = input.collectives.parts();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (is_known[i]) continue;
      parts_[{parts[i].context, parts[i].number, input.trace.files[parts[i].file].rank}].push_back(i);
    }
  }
  // The part of `rank` in the call of `part`. If `rank` has several parts of that number, it is the one with the same
  // position in the order. kNoSuchEntry: it is not in the trace.
  [[nodiscard]] std::size_t of_rank(std::size_t part, std::uint32_t rank) const {
    const CollectivePart& own = input_.collectives.parts()[part];
    const Name own_name(own.context, own.number, input_.trace.files[own.file].rank);
    const auto mine = parts_.find(own_name), theirs = parts_.find({own.context, own.number, rank});
    if (theirs == parts_.end()) return kNoSuchEntry;
    const auto& list = mine->second;
    const auto age = static_cast<std::size_t>(std::find(list.begin(), list.end(), part) - list.begin());
    return age < theirs->second.size() ? theirs->second[age] : kNoSuchEntry;
  }
  [[nodiscard]] const std::map<Name, std::vector<std::size_t>>& parts() const { return parts_; }
  // Number of ranks with a part of that context and number, and the lowest of them.
  [[nodiscard]] std::size_t ranks(std::uint32_t context, std::uint32_t number) const {
    return static_cast<std::size_t>(
        std::distance(first(context, number), parts_.upper_bound({context, number, ~std::uint32_t{0}})));
  }
  [[nodiscard]] std::uint32_t first_rank(std::uint32_t context, std::uint32_t number) const {
    return std::get<2>(first(context, number)->first);
  }
  // The latest part of that name that began before entry `at`.
  [[nodiscard]] std::size_t latest(const Name& name, std::size_t at) const {
    const auto found = parts_.find(name);
    if (found == parts_.end()) return kNoSuchEntry;
    std::size_t latest = kNoSuchEntry;
    for (const std::size_t part : found->second) {
      if (input_.collectives.parts()[part].begin < at) latest = part;
    }
    return latest;
  }

 private:
  [[nodiscard]] std::map<Name, std::vector<std::size_t>>::const_iterator first(std::uint32_t context,
                                                                               std::uint32_t number) const {
    return parts_.lower_bound({context, number, 0});
  }

  const CollectiveInput& input_;
  std::map<Name, std::vector<std::size_t>> parts_;
};

// Joins the parts whose communicator's members are known: among the parts of one communicator and number, each rank's
// n-th part is joined with the other ranks' n-th. n counts from the end if beginnings were overwritten. Returns for
// each part whether its members are known.
std::vector<bool> join_known(const CollectiveInput& input, Groups& groups) {
  // Context, members, number: unique in the run.
  using Call = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;
  const auto& parts = input.collectives.parts();
  std::vector<bool> is_known(parts.size());
  // By call, then by file: the parts in their order.
  std::map<Call, std::map<std::uint32_t, std::vector<std::size_t>>> calls;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto members =
        input.names.members_number(parts[i].file, parts[i].context, input.entry(parts[i].begin).event.time);
    if (!members) continue;
    is_known[i] = true;
    calls[{parts[i].context, *members, parts[i].number}][parts[i].file].push_back(i);
  }
  // Rings that overflowed lost different numbers of beginnings, but each still has its last calls.
  const bool from_end = std::any_of(input.trace.files.begin(), input.trace.files.end(),
                                    [](const TraceFile& file) { return file.lost != 0; });
  for (auto& [call, by_file] : calls) {
    // By position in the order: the part that the others are joined to.
    std::vector<std::size_t> first;
    for (auto& [file, of_file] : by_file) {
      if (from_end) std::reverse(of_file.begin(), of_file.end());
      for (std::size_t age = 0; age < of_file.size(); ++age) {
        if (age == first.size()) first.push_back(of_file[age]);
        groups.join(of_file[age], first[age]);
      }
    }
  }
  return is_known;
}

// Joins parts first by their communicator's members if these are known, then by completeness, then by evidence.
Groups groups_of(const CollectiveInput& input) {
  const auto& parts = input.collectives.parts();
  Groups groups(parts.size());
  const std::vector<bool> is_known = join_known(input, groups);
  const PartIndex index(input, is_known);
  const auto join = [&](std::size_t part, std::uint32_t rank) {
    const std::size_t other = part == kNoSuchEntry || is_known[part] ? kNoSuchEntry : index.of_rank(part, rank);
    if (other != kNoSuchEntry) groups.join(part, other);
  };
  for (const auto& [name, of_rank] : index.parts()) {
    const auto& [context, number, rank] = name;
    for (const std::size_t part : of_rank) {
      const std::size_t members =
          input.names.members(parts[part].file, context, input.entry(parts[part].begin).event.time);
      if (members == index.ranks(context, number)) join(part, index.first_rank(context, number));
    }
  }
  for (std::size_t part = 0; part < parts.size(); ++part) {
    // A message's sender and receiver are in the same call.
    for (const std::size_t send : parts[part].sends) join(part, input.entry(send).event.destination);
  }
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) {
    const sim::TraceEvent& event = input.entry(i).event;
    if (event.kind != sim::TraceKind::shared_read) continue;
    // The reader's part is the latest one of this name: a rank is in one call of a number at a time.
    const std::uint32_t context = split_envelope(event.match_bits).context;
    join(index.latest({context, event.a, event.destination}, i), event.source);
  }
  return groups;
}

bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view each) { return text.starts_with(each); });
}

// The name of the program's call: "MPI_Bcast". An operation that began inside another call, such as MPI_Startall or
// MPI_Waitall, is "persistent bcast" or "nonblocking bcast".
std::string name_of_call(const CollectiveInput& input, const CollectivePart& part) {
  const Trace::Entry& entry = input.entry(part.begin);
  const std::optional<collectives::Operation> operation = collective_shape(entry.event).operation;
  const std::string_view does = operation ? name(*operation) : "collective call";
  const bool agrees = is_agreement(part.context);
  if (PersistentNumber(part.number).is_persistent && !agrees) return "persistent " + std::string(does);
  const std::size_t call = input.messages.call_around(part.begin);
  if (call == kNoSuchEntry) return std::string(does);
  std::string text = call_name(input.trace.files[entry.file], input.entry(call).event.a);
  if (agrees) return fmt::format("{}: {}", text, collective_call_text(part.context, part.number));
  const bool is_of_others = begins_with_one_of(
      text, {"MPI_Wait", "MPI_Test", "MPI_Start", "MPI_Send", "MPI_Recv", "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe",
             "MPI_Improbe", "MPI_Sendrecv", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend", "MPI_Request_get_status"});
  return is_of_others ? "nonblocking " + std::string(does) : text;
}

// For each part, the index of the first part of the program's blocking call to which it belongs. A part of a
// nonblocking or persistent operation has its own index, and so has a part whose call is not known (a rank with several
// threads, or an overwritten beginning).
std::vector<std::size_t> first_parts(const CollectiveInput& input) {
  const auto& parts = input.collectives.parts();
  std::vector<std::size_t> firsts(parts.size());
  // By mpi_enter of the program's call: its first part.
  std::map<std::size_t, std::size_t> by_call;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    firsts[i] = i;
    const std::size_t call = input.messages.call_around(parts[i].begin);
    const Trace::Entry& entry = input.entry(parts[i].begin);
    if (call == kNoSuchEntry || input.messages.has_threads(entry.file)) continue;
    // A nonblocking or persistent operation makes progress inside other calls, so it keeps a row of its own.
    if (name_of_call(input, parts[i]) != call_name(input.trace.files[entry.file], input.entry(call).event.a)) continue;
    firsts[i] = by_call.try_emplace(call, i).first->second;
  }
  return firsts;
}

// Adds a part to its call, which ends with the last of its parts if all of them ended.
void add_part(const CollectiveInput& input, std::size_t index, CollectiveCall& call) {
  const CollectivePart& part = input.collectives.parts()[index];
  call.end = call.first == index || (call.end != kNoSuchEntry && part.end != kNoSuchEntry) ? part.end : kNoSuchEntry;
  const sim::TraceEvent& event = input.entry(part.begin).event;
  const CollectiveShape shape = collective_shape(event);
  const std::string_view how = shape.operation ? name(shape.algorithm) : "direct";
  if (std::find(call.algorithms.begin(), call.algorithms.end(), how) == call.algorithms.end())
    call.algorithms.push_back(how);
  call.bytes = std::max(call.bytes, event.bytes);
}

}  // namespace

std::vector<std::size_t> collective_call_of_parts(const CollectiveInput& input) {
  const std::vector<std::size_t> firsts = first_parts(input);
  std::vector<std::size_t> calls(firsts.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < firsts.size(); ++i) calls[i] = firsts[i] == i ? count++ : calls[firsts[i]];
  return calls;
}

// A call has parts of one call of the program, so the groups of these parts are joined.
std::vector<CollectiveCall> collective_calls(const CollectiveInput& input) {
  const auto& parts = input.collectives.parts();
  const std::vector<std::size_t> call_of_part = collective_call_of_parts(input);
  Groups groups = groups_of(input);
  std::vector<CollectiveCall> calls;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (call_of_part[i] == calls.size()) {
      const bool is_aside = collective_shape(input.entry(parts[i].begin).event).named == sim::TraceRoot::another &&
                            parts[i].sends.empty();
      calls.push_back({.first = i, .name = name_of_call(input, parts[i]), .has_no_part = is_aside});
    }
    CollectiveCall& call = calls[call_of_part[i]];
    groups.join(i, call.first);
    add_part(input, i, call);
  }
  for (CollectiveCall& call : calls) call.group = groups.of(call.first);
  return calls;
}

}  // namespace margay::command
