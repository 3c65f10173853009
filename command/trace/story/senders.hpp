// The file and time by which a message's numbers are interpreted: the sender's file, and the time at which it sent the
// message. Contexts are reused and names change while a message is in flight, so the time of a later event of the
// message would select the wrong definition.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "command/trace/read/reader.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

// Index of the sending times of messages. Only messages of ranks that define a number twice are kept, because for other
// ranks any time selects the same definition.
class Senders {
 public:
  // `trace` is used during construction only.
  explicit Senders(const Trace& trace);

  // The file whose definitions apply, and the time that selects among them.
  struct Moment {
    std::uint32_t file = 0;
    // kUnknownTime: the file defines a number twice, and the sending is not in the trace.
    std::uint64_t time_ns = 0;
  };
  // The moment for the message of the event. An event that is about no message, or whose sender has no file in the
  // trace, yields its own file and time.
  [[nodiscard]] Moment of(const Trace::Entry& entry) const;
  // Whether any file defines a communicator's number twice.
  [[nodiscard]] bool redefine() const { return redefine_; }

 private:
  bool redefine_ = false;
  // By rank.
  std::unordered_map<std::uint32_t, std::uint32_t> file_of_;
  // By file: it defines a communicator's number twice.
  std::vector<bool> redefines_;
  // Sending times, only for messages of the files that redefine a number.
  std::unordered_map<MessageIdentity, std::uint64_t, MessageHash> sent_ns_;
};

}  // namespace margay::command
