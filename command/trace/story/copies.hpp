// Which copies were made of a message's body on its way, by whom and by which means, as its events tell them.
#pragma once

#include <string>
#include <vector>

#include "command/trace/story/messages.hpp"

namespace margay::command {

// One leg of a body's way: what a rank did.
struct BodyLeg {
  unsigned copies = 0;       // of every byte, by a process of the program; what a socket's kernel does is none
  bool copies_part = false;  // and some of its bytes once more
  std::string words;         // "rank 0 copied it into a cell of its ring to rank 1"
};

struct BodyCopies {
  std::vector<BodyLeg> legs;         // in their order; empty: there was no body, or its end is not in the trace
  std::vector<std::string> in_vain;  // sentences: what was copied of it before, and thrown away
  bool is_known = true;              // every leg is in the trace
  bool ends_in_receive = true;       // false: where its entry led, which may not be the end of its way
  [[nodiscard]] unsigned count() const;
};

[[nodiscard]] BodyCopies copies_of(const Trace& trace, const MessageStory& story);
// "Its body was copied twice: rank 0 copied it into a cell of its ring to rank 1; rank 1 copied it out of the cell into
// the receive's memory." and what was in vain; no sentence: nothing is known.
[[nodiscard]] std::vector<std::string> copies_told(const BodyCopies& copies);

// How a window_access goes, and what is copied: "direct: rank 0 copies it once, in memory that is mapped there".
[[nodiscard]] std::string access_copies(const sim::TraceEvent& access);

}  // namespace margay::command
