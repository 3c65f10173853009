#include "command/trace/page/heap_table.hpp"

#include <algorithm>

#include "portals/memory/descriptor.hpp"

namespace margay::command {

namespace {

// The number of MPI's heap of unexpected messages; heaps of programs have other numbers.
constexpr std::uint32_t kMpiHeap = 0;

// The event at which a matched probe reserved the message for one receive; kNoEntry: none did.
std::size_t find_removal(const PageInput& input, const MessageStory& story) {
  const auto found = std::find_if(story.found.begin(), story.found.end(), [&](std::size_t at) {
    return sim::takes_out(static_cast<sim::TraceProbe>(input.entry(at).event.reason));
  });
  return found == story.found.end() ? kNoEntry : *found;
}

// Collects the rows: MPI's heap from the stories, programs' heaps from the events.
class HeapRows {
 public:
  explicit HeapRows(const PageInput& input) : input_(input) {}

  // Adds an unexpected message of MPI. A message that is held on its wire enters the heap only when it matches, after
  // its arrival.
  void add_unexpected(std::size_t row, const MessageStory& story) {
    add(story.identity.destination, row, story.matched == kNoEntry ? story.arrived : story.matched, kMpiHeap);
    to_.back() = input_.time(story.searched != kNoEntry ? story.searched : story.given_back);
    claimed_.back() = input_.time(find_removal(input_, story));
  }

  // Adds a message that a program's dynamic block keeps; an answer has the row of the message that it answers.
  void add_kept(std::int32_t row, std::size_t matched, std::uint32_t heap) {
    const auto& [event, file] = input_.entry(matched);
    const auto [from, is_new] = kept_.try_emplace({file, identity(event)}, rank_.size());
    if (is_new) add(input_.trace.files[file].rank, row, matched, heap);
  }

  // Records that a message left the queue of its heap, or that its memory was released.
  void leave(std::size_t at) {
    const auto& [event, file] = input_.entry(at);
    const auto found = kept_.find({file, identity(event)});
    if (found == kept_.end()) return;
    const bool is_free = event.reason != 0;
    (is_free ? to_ : claimed_)[found->second] = input_.time(at);
  }

  void write(PageData& data) const {
    data.table("heap", rank_.size())
        .column("rank", rank_)
        .column("message", message_)
        .column("from", from_)
        .column("to", to_)
        .column("bytes", bytes_)
        .column("claimed", claimed_)
        .column("heap", heap_)
        .done();
  }

 private:
  void add(std::uint32_t rank, std::int64_t row, std::size_t kept, std::uint32_t heap) {
    const sim::TraceEvent& event = input_.entry(kept).event;
    const bool has_body = event.saved == portals::Saved::body || event.saved == portals::Saved::both;
    rank_.push_back(rank);
    message_.push_back(static_cast<std::int32_t>(row));
    from_.push_back(input_.time(kept));
    bytes_.push_back(has_body ? static_cast<double>(event.bytes) : 0);
    to_.push_back(kNoTime);
    claimed_.push_back(kNoTime);
    heap_.push_back(heap);
  }

  const PageInput& input_;
  // Rows of messages in programs' heaps, by file and message.
  std::map<std::pair<std::uint32_t, MessageIdentity>, std::size_t> kept_;
  std::vector<std::uint32_t> rank_, heap_;
  std::vector<std::int32_t> message_;
  std::vector<double> from_, to_, bytes_, claimed_;
};

// Adds the table of each rank's dynamic blocks.
void add_heaps(const PageInput& input, PageData& data) {
  std::vector<std::uint32_t> rank, number;
  std::vector<double> bytes;
  for (const TraceFile& file : input.trace.files) {
    for (const sim::Definition& each : file.definitions) {
      if (each.kind != sim::DefinitionKind::heap) continue;
      rank.push_back(file.rank);
      number.push_back(static_cast<std::uint32_t>(each.number));
      bytes.push_back(static_cast<double>(each.value));
    }
  }
  data.table("heaps", rank.size()).column("rank", rank).column("number", number).column("bytes", bytes).done();
}

}  // namespace

// Makes one pass over the stories for MPI's heap, and one over the events for the heaps of programs.
void add_heap(const PageInput& input, const PageMessages& messages, const std::map<std::size_t, std::size_t>& takers,
              const std::function<std::uint32_t(std::size_t)>& heap_of, PageData& data) {
  // matched_descriptor() returns 0 where the type is not known, so the types count from 1.
  constexpr auto kHeap = 1U + static_cast<std::uint32_t>(portals::DescriptorType::dynamic_block);
  HeapRows rows(input);
  for (std::size_t row = 0; row < messages.stories.size(); ++row) {
    const MessageStory& story = messages.stories[row];
    // Without an arrival in the trace, the time at which the message began to take memory is not known.
    if (story.unexpected && story.arrived != kNoEntry) rows.add_unexpected(row, story);
  }
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) {
    const sim::TraceEvent& event = input.entry(i).event;
    if (event.kind == sim::TraceKind::heap_left) rows.leave(i);
    if (event.kind != sim::TraceKind::kernel_match || sim::matched_descriptor(event.reason) != kHeap) continue;
    const auto taker = takers.find(i);
    if (taker == takers.end()) continue;
    const auto found = messages.row_of.find(input.messages.root_of(identity(event)));
    rows.add_kept(found == messages.row_of.end() ? kNoRow : found->second, i, heap_of(taker->second));
  }
  rows.write(data);
  add_heaps(input, data);
}

}  // namespace margay::command
