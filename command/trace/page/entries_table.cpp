#include "command/trace/page/entries_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "command/trace/page/heap_table.hpp"
#include "portals/base/verdict.hpp"

namespace margay::command {

namespace {

// Collects the rows of three kinds of entries: named entries of the library, posted receives, and entries of a program
// on portals.
class EntryRows {
 public:
  EntryRows(const PageInput& input, const PageMessages& messages, PageStrings& strings)
      : input_(input), messages_(messages), strings_(strings) {}

  // Adds the named entries of an MPI program. They are the library's and exist all the time. A new name for a position
  // ends the row of the former name.
  void add_named() {
    const std::map<EntryKey, std::size_t> passes = first_passes();
    for (std::uint32_t file = 0; file < input_.trace.files.size(); ++file) {
      if (!input_.names.is_envelope(file, mpi_adi::kReceivePortal)) continue;
      std::map<std::uint64_t, std::size_t> last;
      for (const sim::Definition& each : input_.trace.files[file].definitions) {
        if (each.kind != sim::DefinitionKind::entry) continue;
        const double from = since(each.time);
        const auto found = last.find(each.number);
        if (found != last.end()) to_[found->second] = from;
        last[each.number] = rank_.size();
        const auto portal = static_cast<std::uint8_t>(each.value);
        const std::uint64_t place = each.number ^ sim::entry_number(portal, 0);
        const auto pass = passes.find({file, portal, place});
        add(file, portal, input_.names.entry(file, portal, place, 0, each.time),
            pass == passes.end() ? "" : wanted_by(pass->second), from, static_cast<double>(place));
      }
    }
  }

  // Adds posted receives. A receive is in the list from the search that found no message until its message matches, or
  // until its request completes without a message.
  void add_receives() {
    // By file and request: its latest post_receive.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> posts;
    for (std::size_t i = 0; i < input_.trace.entries.size(); ++i) {
      const auto& [event, file] = input_.entry(i);
      const std::pair request(file, event.a);
      if (event.kind == sim::TraceKind::post_receive) posts[request] = i;
      if (event.kind == sim::TraceKind::search_miss) add_receive(i, posts);
      if (event.kind == sim::TraceKind::request_complete && is_of_receive(event, input_.trace.files[file].rank)) {
        const auto found = standing_.find(request);
        if (found == standing_.end()) continue;
        to_[found->second] = input_.time(i);
        standing_.erase(found);
      }
    }
  }

  // Adds entries of a program on portals, from their linking to their unlinking.
  void add_linked() {
    for (std::size_t i = 0; i < input_.trace.entries.size(); ++i) {
      const auto& [event, file] = input_.entry(i);
      if (event.kind == sim::TraceKind::entry_linked) link(i);
      if (event.kind == sim::TraceKind::entry_unlinked) {
        const std::size_t row = row_of(i);
        to_[row] = input_.time(i);
        standing_entries_.erase({file, event.portal, event.detail});
      }
      if (event.kind == sim::TraceKind::entry_switched) switch_entry(row_of(i), i);
      const bool belongs_to_program = !input_.names.is_envelope(file, mpi_adi::kReceivePortal);
      const bool shows_entry = event.kind == sim::TraceKind::kernel_match || event.kind == sim::TraceKind::kernel_pass;
      if (belongs_to_program && shows_entry && !input_.names.is_internal(file, event.portal)) record_took(row_of(i), i);
    }
    for (const auto& [portal, rows] : lists_) {
      // Positions are assigned once for the whole run, so that a row keeps its place on the page while other entries
      // are linked and unlinked.
      double place = 0;
      for (const std::size_t row : rows) place_[row] = ++place;
    }
    name_linked();
  }

  // By index of a kernel_match in a program on portals: the row of the entry that took the message.
  [[nodiscard]] const std::map<std::size_t, std::size_t>& takers() const { return takers_; }
  [[nodiscard]] std::uint32_t heap(std::size_t row) const { return heap_[row]; }

  void write(PageData& data) const {
    data.table("entries", rank_.size())
        .column("rank", rank_)
        .column("portal", portal_)
        .column("portal_name", portal_name_)
        .column("name", name_)
        .column("wanted", wanted_)
        .column("from", from_)
        .column("to", to_)
        .column("since", since_)
        .column("place", place_)
        .column("message", message_)
        .column("form", form_)
        .column("heap", heap_)
        .column("inactive", inactive_)
        .done();
  }

 private:
  // File, portal, and place in the portal's list.
  using EntryKey = std::tuple<std::uint32_t, std::uint8_t, std::uint64_t>;
  // By place: the first kernel_pass, the only event with the criteria of a named entry.
  [[nodiscard]] std::map<EntryKey, std::size_t> first_passes() const {
    std::map<EntryKey, std::size_t> passes;
    for (std::size_t i = 0; i < input_.trace.entries.size(); ++i) {
      const auto& [event, file] = input_.entry(i);
      if (event.kind == sim::TraceKind::kernel_pass) passes.try_emplace({file, event.portal, event.detail}, i);
    }
    return passes;
  }
  [[nodiscard]] std::string wanted_by(std::size_t pass) const {
    const auto& [event, file] = input_.entry(pass);
    std::string wanted = input_.names.wanted(file, event.portal, event.match_bits, event.bytes, event.time);
    const bool is_rank = event.reason != static_cast<std::uint8_t>(portals::Passed::too_small);
    if (is_rank && event.b != portals::kAnyRank) wanted += ", from rank " + std::to_string(event.b) + " only";
    return wanted;
  }

  // The kind of a row; the page's script uses the same numbers.
  enum Form : std::uint8_t { kMpis, kChained, kAdopted, kPortals };

  // The row of the entry at the event's place. An entry that was linked before the first recorded event gets a row
  // without beginning and position.
  std::size_t row_of(std::size_t at) {
    const auto& [event, file] = input_.entry(at);
    const auto [found, is_new] = standing_entries_.try_emplace({file, event.portal, event.detail}, rank_.size());
    if (is_new) {
      const bool shows_wanted = event.kind == sim::TraceKind::kernel_pass;
      add(file, event.portal, "", shows_wanted ? wanted_by(at) : "", kNoTime, kNoTime);
      form_.back() = event.detail == 0 ? kPortals : kChained;
      linked_rows_.push_back({rank_.size() - 1, file, event.detail});
    }
    return found->second;
  }

  // Inserts the row at the entry's position: before the entry that the event names, or at the end.
  void link(std::size_t at) {
    const auto& [event, file] = input_.entry(at);
    const bool is_portal = (event.reason & sim::kTraceEntryPortal) != 0,
               is_adopted = (event.reason & sim::kTraceEntryAdopted) != 0;
    std::string wanted;
    if (!is_portal) {
      wanted = input_.names.wanted(file, event.portal, event.match_bits, event.bytes, event.time);
      if (event.source != portals::kAnyRank) wanted += fmt::format(", from rank {} only", event.source);
    }
    const std::size_t row = rank_.size();
    add(file, event.portal, "", wanted, input_.time(at), kNoTime);
    form_.back() = is_portal ? kPortals : is_adopted ? kAdopted : kChained;
    heap_.back() = sim::TraceEntry::of(event.b).heap;
    inactive_.back() = (event.reason & sim::kTraceEntryInactive) != 0 ? 1 : 0;
    linked_rows_.push_back({row, file, event.detail});
    const auto next = standing_entries_.find({file, event.portal, event.a});
    standing_entries_[{file, event.portal, event.detail}] = row;
    // Links alone lead to an adopted entry, and a portal's own descriptor has no list: neither has a position.
    if (form_.back() != kChained) return;
    std::list<std::size_t>& rows = lists_[{file, event.portal}];
    const auto spot = event.a == 0 || next == standing_entries_.end() ? spots_.end() : spots_.find(next->second);
    spots_[row] = rows.insert(spot == spots_.end() ? rows.end() : spot->second, row);
  }

  // Continues an entry in a new row, at the same position, when it is activated or deactivated.
  void switch_entry(std::size_t row, std::size_t at) {
    const auto& [event, file] = input_.entry(at);
    const std::size_t other = rank_.size();
    to_[row] = input_.time(at);
    add(file, event.portal, "", "", input_.time(at), kNoTime);
    wanted_[other] = wanted_[row];
    form_[other] = form_[row];
    heap_[other] = heap_[row];
    since_[other] = since_[row];
    inactive_[other] = (event.reason & sim::kTraceEntryInactive) != 0 ? 1 : 0;
    linked_rows_.push_back({other, file, event.detail});
    standing_entries_[{file, event.portal, event.detail}] = other;
    if (const auto spot = spots_.find(row); spot != spots_.end()) {
      spots_[other] = lists_[{file, event.portal}].insert(spot->second, other);
    }
  }

  void record_took(std::size_t row, std::size_t at) {
    if (input_.entry(at).event.kind == sim::TraceKind::kernel_match) takers_[at] = row;
  }

  // Names each linked entry by the last name that it had while it was in the list, because a program names an entry
  // after linking it.
  void name_linked() {
    const std::uint64_t first = input_.trace.entries.front().event.time, last = input_.trace.entries.back().event.time;
    for (const auto& [row, file, place] : linked_rows_) {
      const std::uint64_t until = std::isnan(to_[row]) ? last : first + static_cast<std::uint64_t>(to_[row]);
      name_[row] = strings_.number(input_.names.entry(file, portal_[row], place, 0, until));
    }
  }

  [[nodiscard]] double since(std::uint64_t time) const {
    const std::uint64_t first = input_.trace.entries.front().event.time;
    return time > first ? static_cast<double>(time - first) : 0;
  }

  void add(std::uint32_t file, std::uint8_t portal, std::string_view name, std::string_view wanted, double from,
           double place) {
    rank_.push_back(input_.trace.files[file].rank);
    portal_.push_back(portal);
    portal_name_.push_back(strings_.number(input_.names.portal(file, portal)));
    name_.push_back(strings_.number(name));
    wanted_.push_back(strings_.number(wanted));
    from_.push_back(from);
    to_.push_back(kNoTime);
    place_.push_back(place);
    message_.push_back(kNoRow);
    form_.push_back(kMpis);
    heap_.push_back(0);
    since_.push_back(from);
    inactive_.push_back(0);
  }

  // Adds the row of a posted receive. A receive that took a message ends with the match; a receive without a message
  // remains until its request completes.
  void add_receive(std::size_t missed, const std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& posts) {
    const auto& [event, file] = input_.entry(missed);
    const auto post = posts.find({file, event.a});
    const std::size_t row = rank_.size();
    std::string wanted;
    if (post != posts.end()) {
      const sim::TraceEvent& posted = input_.entry(post->second).event;
      wanted = input_.names.wanted(file, mpi_adi::kReceivePortal, posted.match_bits, posted.detail, posted.time);
    }
    add(file, mpi_adi::kReceivePortal, "a posted receive", wanted, input_.time(missed), kNoTime);
    const auto taker = messages_.row_of_search.find(missed);
    if (taker == messages_.row_of_search.end()) {
      standing_[{file, event.a}] = row;
      return;
    }
    const MessageStory& story = messages_.stories[static_cast<std::size_t>(taker->second)];
    message_[row] = taker->second;
    to_[row] = input_.time(story.matched);
    if (story.matched != kNoEntry) place_[row] = static_cast<double>(input_.entry(story.matched).event.detail);
  }

  const PageInput& input_;
  const PageMessages& messages_;
  PageStrings& strings_;
  std::vector<std::uint32_t> rank_, portal_name_, name_, wanted_;
  // The heap of the entry's dynamic block; 0: the entry's descriptor has another type.
  std::vector<std::uint32_t> heap_;
  std::vector<std::uint8_t> portal_, form_, inactive_;
  // since_: the time of the linking, which is before from_ in a row that continues another one.
  std::vector<double> from_, to_, place_, since_;
  std::vector<std::int32_t> message_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>
      standing_;  // by file and request: the row of a receive without a message
  // The remaining members serve programs on portals. By place: the row of the entry that is there now.
  std::map<EntryKey, std::size_t> standing_entries_;
  // The rows of each portal, in an order that agrees with its match list at all times: a removed entry keeps its
  // position between the others.
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::list<std::size_t>> lists_;
  // By row: its position in `lists_`. List iterators stay valid under insertions.
  std::map<std::size_t, std::list<std::size_t>::iterator> spots_;
  struct LinkedRow {
    std::size_t row = 0;
    std::uint32_t file = 0;
    std::uint64_t place = 0;
  };
  std::vector<LinkedRow> linked_rows_;
  std::map<std::size_t, std::size_t> takers_;
};

}  // namespace

// The order of the calls is the order of the rows.
void add_entries(const PageInput& input, const PageMessages& messages, PageData& data) {
  EntryRows rows(input, messages, data.strings());
  rows.add_named();
  rows.add_receives();
  rows.add_linked();
  rows.write(data);
  add_heap(
      input, messages, rows.takers(), [&](std::size_t row) { return rows.heap(row); }, data);
}

}  // namespace margay::command
