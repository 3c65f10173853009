// Who knows what a message's numbers mean: its sender, at the time when it sent it. Contexts are used again, and names
// change, while a message is on its way.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "command/trace/read/reader.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

class Senders {
 public:
  // `trace` outlives it.
  explicit Senders(const Trace& trace);

  struct Moment {
    std::uint32_t file = 0;
    std::uint64_t time_ns = 0;  // kUnknownTime: the sending is not in the trace, and it matters
  };
  // Of the message that the event is about; of an event about none, or whose sender's file is absent: the event's own.
  [[nodiscard]] Moment of(const Trace::Entry& entry) const;
  // Whether one of them defines a number twice.
  [[nodiscard]] bool redefine() const { return redefine_; }

 private:
  bool redefine_ = false;
  std::unordered_map<std::uint32_t, std::uint32_t> file_of_;                 // by rank
  std::vector<bool> redefines_;                                              // by file
  std::unordered_map<MessageIdentity, std::uint64_t, MessageHash> sent_ns_;  // of files that define a number twice
};

}  // namespace margay::command
