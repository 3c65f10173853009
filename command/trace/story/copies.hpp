// The copies that were made of a message's body: by which process, by which means.
// Derived from the message's events, above all the body method in kernel_deposit.
#pragma once

#include <string>
#include <vector>

#include "command/trace/story/messages.hpp"

namespace margay::command {

// One leg of a body's path: the action of one rank on the body.
struct BodyLeg {
  // Copies of the whole body by a process of the program. Copies inside the operating system's sockets are not counted.
  unsigned copies = 0;
  // Some bytes of the body were copied once more.
  bool copies_part = false;
  // "rank 0 copied it into a cell of its ring to rank 1".
  std::string text;
};

// All legs of one body.
struct BodyCopies {
  // In the order of the path. Empty: the message has no body, or the trace lacks the kernel_deposit at its end.
  std::vector<BodyLeg> legs;
  // Sentences about copies that the receiver discarded, made before the body was pulled.
  std::vector<std::string> discarded;
  // Every leg is in the trace.
  bool is_known = true;
  // False: the path ends in the memory of an entry that is not an MPI receive's. A program may copy the body further
  // from there.
  bool ends_in_receive = true;
  // Copies of the whole body, over all legs.
  [[nodiscard]] unsigned count() const;
};

// Follows the body of the message itself or, for a pulled message, the body of the reply.
[[nodiscard]] BodyCopies copies_of(const Trace& trace, const MessageStory& story);
// Formats the copies as sentences: "Its body was copied twice: rank 0 copied it into a cell of its ring to rank 1; rank
// 1 copied the cell into the receive's memory.", then `discarded`. Empty without legs.
[[nodiscard]] std::vector<std::string> copy_sentences(const BodyCopies& copies);

// The method of a window_access and its copies: "direct: rank 0 copies it once, in memory that is mapped there".
[[nodiscard]] std::string access_copies(const Trace& trace, const sim::TraceEvent& access);

}  // namespace margay::command
