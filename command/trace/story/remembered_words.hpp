// Words of events that were told before. Most lines of most stories are those of others but for their times, and to
// look up an event takes a tenth of telling it anew.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "command/trace/story/words.hpp"

namespace margay::command {

// Of one thread.
class RememberedWords {
 public:
  // `words` outlives it.
  explicit RememberedWords(const EventWords& words) : words_(words) {}

  // What EventWords::of() and message() tell of the entry.
  [[nodiscard]] std::string of(const Trace::Entry& entry, const sim::TraceEvent* arrival);
  [[nodiscard]] std::string message(const Trace::Entry& entry);

 private:
  // What an event's words depend on: all of it but for its time and its number, of which it only matters between which
  // definitions it lies and whether there is one.
  struct Key {
    sim::TraceEvent event;
    std::uint32_t file = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  using Known = std::unordered_map<Key, std::string, Hash>;

  template <typename Tell>
  const std::string& remembered(Known& known, const Trace::Entry& entry, const Tell& tell);
  [[nodiscard]] std::uint64_t definitions_before(std::uint64_t time_ns);

  const EventWords& words_;
  struct Span {
    std::uint64_t from = 1, until = 0, number = 0;  // of times between two definitions; an empty one
  };
  Span latest_;
  Known events_, messages_;
};

}  // namespace margay::command
