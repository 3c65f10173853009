#include "command/trace/page/collectives_table.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <vector>

#include "command/trace/story/collective_calls.hpp"

namespace margay::command {

namespace {

// The number in the row of an agreement. An agreement is not numbered, because it is among some members only and so
// not one of the communicator's calls.
constexpr std::int32_t kNoNumber = -1;

// Counts a rank's calls of one name on a communicator, from 1.
class Ordinals {
 public:
  std::int32_t next(std::uint32_t file, std::uint32_t context, std::uint32_t name) {
    return ++counts_[{file, context, name}];
  }

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::int32_t> counts_;
};

CollectiveInput collective_input(const PageInput& input) {
  return {input.trace, input.names, input.messages, input.collectives};
}

}  // namespace

std::vector<std::int32_t> collective_rows(const PageInput& input) {
  const std::vector<std::size_t> calls = collective_call_of_parts(collective_input(input));
  return {calls.begin(), calls.end()};
}

void add_collectives(const PageInput& input, const PageCalls& calls, PageData& data) {
  const auto& parts = input.collectives.parts();
  Ordinals ordinals;
  std::vector<std::uint32_t> rank, name_of, communicator, algorithm;
  std::vector<double> bytes, begin, end, start;
  std::vector<std::int32_t> group, call, number;
  std::vector<std::uint8_t> no_part;
  for (const CollectiveCall& row : collective_calls(collective_input(input))) {
    const CollectivePart& part = parts[row.first];
    const Trace::Entry& entry = input.entry(part.begin);
    const PersistentNumber persistent(part.number);
    const bool agrees = is_agreement(part.context);
    rank.push_back(input.rank_of(part.begin));
    name_of.push_back(data.strings().number(row.name));
    communicator.push_back(
        data.strings().number(input.names.communicator_of_calls(entry.file, part.context, entry.event.time)));
    const bool is_started = persistent.is_persistent && !agrees;
    number.push_back(agrees       ? kNoNumber
                     : is_started ? static_cast<std::int32_t>(persistent.channel)
                                  : ordinals.next(entry.file, part.context, name_of.back()));
    start.push_back(is_started ? static_cast<double>(part.start) : kNoTime);
    algorithm.push_back(data.strings().number(fmt::format("{}", fmt::join(row.algorithms, ", "))));
    bytes.push_back(static_cast<double>(row.bytes));
    begin.push_back(input.time(part.begin));
    end.push_back(input.time(row.end));
    group.push_back(static_cast<std::int32_t>(row.group));
    call.push_back(calls.row_around(input, part.begin));
    no_part.push_back(row.has_no_part ? 1 : 0);
  }
  data.table("collectives", rank.size())
      .column("rank", rank)
      .column("name", name_of)
      .column("communicator", communicator)
      .column("number", number)
      .column("start", start)
      .column("algorithm", algorithm)
      .column("bytes", bytes)
      .column("begin", begin)
      .column("end", end)
      .column("group", group)
      .column("call", call)
      .column("no_part", no_part)
      .done();
}

}  // namespace margay::command
