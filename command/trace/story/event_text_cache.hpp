// A cache of formatted events.
// Most lines of most stories differ from earlier ones in their times only, and a lookup costs a tenth of formatting the
// event anew. Used where many stories are formatted, as for a page.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "command/trace/story/event_text.hpp"

namespace margay::command {

// The cache. Not thread-safe: each formatting thread has its own. At most 4096 texts of each sort; a full cache is
// emptied.
class EventTextCache {
 public:
  // `event_text` must outlive the cache.
  explicit EventTextCache(const EventText& event_text) : event_text_(event_text) {}

  // These return the result of EventText::of() and message() for the entry. It comes from the cache if it depends only
  // on the Key; other events are formatted each time.
  [[nodiscard]] std::string of(const Trace::Entry& entry, const sim::TraceEvent* arrival);
  [[nodiscard]] std::string message(const Trace::Entry& entry);

 private:
  // The data on which the text of a cacheable event depends. The number of definitions before the event replaces its
  // time. 0 or 1 replaces its sequence, because the text shows only whether there is one.
  struct Key {
    sim::TraceEvent event;
    std::uint32_t file = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  using Texts = std::unordered_map<Key, std::string, Hash>;

  template <typename Format>
  const std::string& cached(Texts& texts, const Trace::Entry& entry, const Format& format);
  [[nodiscard]] std::uint64_t definitions_before(std::uint64_t time_ns);

  // Formats the events that are not in the cache.
  const EventText& event_text_;
  struct Span {
    // Times [from, until) between two definitions, and how many definitions lie before. Initially empty.
    std::uint64_t from = 1, until = 0, number = 0;
  };
  // The last span that was searched: consecutive events mostly share it.
  Span latest_;
  Texts events_, messages_;
};

}  // namespace margay::command
