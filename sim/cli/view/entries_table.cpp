#include "sim/cli/view/entries_table.hpp"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "portals/verdict.hpp"

namespace margay::sim {

namespace {

class EntryRows {
 public:
  EntryRows(const PageInput& input, const PageMessages& messages, PageStrings& strings)
      : input_(input), messages_(messages), strings_(strings) {}

  // Entries that have names: a program's, and the library's that stand all the time. Another name for a place ends the
  // one before.
  void add_named() {
    const std::map<Place, std::size_t> passes = first_passes();
    for (std::uint32_t file = 0; file < input_.trace.files.size(); ++file) {
      std::map<std::uint64_t, std::size_t> last;
      for (const Definition& each : input_.trace.files[file].definitions) {
        if (each.kind != DefinitionKind::entry) continue;
        const double from = since(each.time);
        const auto found = last.find(each.number);
        if (found != last.end()) to_[found->second] = from;
        last[each.number] = rank_.size();
        const auto portal = static_cast<std::uint8_t>(each.value);
        const std::uint64_t place = each.number ^ entry_number(portal, 0);
        const auto pass = passes.find({file, portal, place});
        add(file, portal, input_.names.entry(file, portal, place, 0, each.time),
            pass == passes.end() ? "" : wanted_by(pass->second), from, static_cast<double>(place));
      }
    }
  }

  // Posted receives: each stands from the search that found nothing until its message comes, or it ends without one.
  void add_receives() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> posts;  // by file and request: its post_receive
    for (std::size_t i = 0; i < input_.trace.entries.size(); ++i) {
      const auto& [event, file] = input_.entry(i);
      const std::pair request(file, event.a);
      if (event.kind == TraceKind::post_receive) posts[request] = i;
      if (event.kind == TraceKind::search_miss) add_receive(i, posts);
      if (event.kind == TraceKind::request_complete && is_of_receive(event, input_.trace.files[file].rank)) {
        const auto found = standing_.find(request);
        if (found == standing_.end()) continue;
        to_[found->second] = input_.time(i);
        standing_.erase(found);
      }
    }
  }

  void write(PageData& data) const {
    data.table("entries", rank_.size())
        .column("rank", rank_)
        .column("portal", portal_)
        .column("portal_name", portal_name_)
        .column("name", name_)
        .column("wanted", wanted_)
        .column("from", from_)
        .column("to", to_)
        .column("place", place_)
        .column("message", message_)
        .done();
  }

 private:
  // File, portal, and place in its list.
  using Place = std::tuple<std::uint32_t, std::uint8_t, std::uint64_t>;
  // What an entry wants is told where a walk passes it over.
  [[nodiscard]] std::map<Place, std::size_t> first_passes() const {
    std::map<Place, std::size_t> passes;
    for (std::size_t i = 0; i < input_.trace.entries.size(); ++i) {
      const auto& [event, file] = input_.entry(i);
      if (event.kind == TraceKind::kernel_pass) passes.try_emplace({file, event.portal, event.detail}, i);
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
  }

  void add_receive(std::size_t missed, const std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& posts) {
    const auto& [event, file] = input_.entry(missed);
    const auto post = posts.find({file, event.a});
    const std::size_t row = rank_.size();
    std::string wanted;
    if (post != posts.end()) {
      const TraceEvent& posted = input_.entry(post->second).event;
      wanted = input_.names.wanted(file, kMpiReceivePortal, posted.match_bits, posted.detail, posted.time);
    }
    add(file, kMpiReceivePortal, "a posted receive", wanted, input_.time(missed), kNoTime);
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
  std::vector<std::uint8_t> portal_;
  std::vector<double> from_, to_, place_;
  std::vector<std::int32_t> message_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>
      standing_;  // by file and request: row of one that nothing took
};

}  // namespace

void add_entries(const PageInput& input, const PageMessages& messages, PageData& data) {
  EntryRows rows(input, messages, data.strings());
  rows.add_named();
  rows.add_receives();
  rows.write(data);
}

}  // namespace margay::sim
