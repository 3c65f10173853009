#include "command/trace/page/library_table.hpp"

namespace margay::command {

// Texts are numbered, so a repeated sentence costs one number.
void add_library_events(const PageInput& input, const PageCalls& calls, PageData& data) {
  std::vector<std::uint32_t> rank, text;
  std::vector<double> time;
  std::vector<std::int32_t> call;
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) {
    if (input.entry(i).event.kind != sim::TraceKind::library_event) continue;
    rank.push_back(input.rank_of(i));
    time.push_back(input.time(i));
    text.push_back(data.strings().number(input.event_text.of(input.entry(i))));
    call.push_back(calls.row_around(input, i));
  }
  data.table("library_events", rank.size())
      .column("rank", rank)
      .column("time", time)
      .column("text", text)
      .column("call", call)
      .done();
}

}  // namespace margay::command
