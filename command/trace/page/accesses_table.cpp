#include "command/trace/page/accesses_table.hpp"

#include "command/trace/story/copies.hpp"

namespace margay::command {

namespace {

// The elements of one index belong to one access; accesses are in the order of the trace.
struct AccessColumns {
  std::vector<std::uint32_t> rank, target, what, method, copies, window, epoch;
  std::vector<std::int32_t> call;
  std::vector<double> begin, end, bytes, offset;
};

// The return of the call that made the access. The access itself completes with its epoch, which the trace shows by
// synchronisations only.
double returned(const PageInput& input, std::size_t at) {
  if (input.messages.has_threads(input.entry(at).file)) return kNoTime;
  const std::size_t enter = input.messages.call_around(at);
  return enter == kNoEntry ? kNoTime : input.time(input.messages.leave_of(enter));
}

}  // namespace

// Texts are numbered, so a repeated window or method costs one number.
void add_accesses(const PageInput& input, const PageCalls& calls, PageData& data) {
  AccessColumns columns;
  PageStrings& strings = data.strings();
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) {
    const auto& [event, file] = input.entry(i);
    if (event.kind != sim::TraceKind::window_access) continue;
    columns.rank.push_back(input.rank_of(i));
    columns.target.push_back(event.destination);
    columns.what.push_back(strings.number(name(static_cast<sim::TraceAccess>(event.a))));
    columns.method.push_back(strings.number(mpi_adi::name(static_cast<mpi_adi::WindowMethod>(event.reason))));
    columns.copies.push_back(strings.number(access_copies(input.trace, event)));
    columns.window.push_back(
        strings.number(input.names.window(file, static_cast<std::uint32_t>(event.match_bits >> 32U), event.time)));
    columns.epoch.push_back(strings.number(name(static_cast<sim::TraceEpoch>(event.b))));
    columns.call.push_back(calls.row_around(input, i));
    columns.begin.push_back(input.time(i));
    columns.end.push_back(returned(input, i));
    columns.bytes.push_back(static_cast<double>(event.bytes));
    columns.offset.push_back(static_cast<double>(event.detail));
  }
  data.table("accesses", columns.rank.size())
      .column("rank", columns.rank)
      .column("target", columns.target)
      .column("what", columns.what)
      .column("way", columns.method)
      .column("copies", columns.copies)
      .column("window", columns.window)
      .column("epoch", columns.epoch)
      .column("call", columns.call)
      .column("begin", columns.begin)
      .column("end", columns.end)
      .column("bytes", columns.bytes)
      .column("offset", columns.offset)
      .done();
}

}  // namespace margay::command
