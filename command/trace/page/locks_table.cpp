#include "command/trace/page/locks_table.hpp"

#include <map>
#include <tuple>

namespace margay::command {

namespace {

struct LockColumns {
  std::vector<std::uint32_t> rank, window;
  // kNoRow: all ranks of the window.
  std::vector<std::int32_t> target;
  std::vector<double> from, to;
};

}  // namespace

// A new lock of the same window and target replaces a former one whose release was not recorded.
void add_locks(const PageInput& input, PageData& data) {
  LockColumns columns;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, std::size_t>
      held;  // by file, window, target: the lock's row
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) {
    const auto& [event, file] = input.entry(i);
    if (event.kind != sim::TraceKind::window_sync) continue;
    const auto sync = static_cast<sim::TraceSync>(event.a);
    // The target of MPI_Win_lock_all is "any rank", so its key differs from those of locks of single targets.
    const std::tuple key(file, event.match_bits, event.destination);
    if (sync == sim::TraceSync::lock || sync == sim::TraceSync::lock_all) {
      held[key] = columns.rank.size();
      columns.rank.push_back(input.rank_of(i));
      columns.window.push_back(static_cast<std::uint32_t>(event.match_bits >> 32U));
      columns.target.push_back(event.destination == portals::kAnyRank ? kNoRow
                                                                      : static_cast<std::int32_t>(event.destination));
      columns.from.push_back(input.time(i));
      columns.to.push_back(kNoTime);
    } else if (sync == sim::TraceSync::unlock || sync == sim::TraceSync::unlock_all) {
      if (const auto found = held.find(key); found != held.end()) columns.to[found->second] = input.time(i);
    }
  }
  data.table("locks", columns.rank.size())
      .column("rank", columns.rank)
      .column("window", columns.window)
      .column("target", columns.target)
      .column("from", columns.from)
      .column("to", columns.to)
      .done();
}

}  // namespace margay::command
