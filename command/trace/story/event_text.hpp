// The text of one event for a person: its meaning for the program.
// Numbers become names by TraceNames; text.hpp formats the raw fields instead.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/read/reader.hpp"
#include "command/trace/story/senders.hpp"

namespace margay::command {

// Resolves an address in a module to "heat.c:41"; "" where the line is not known.
using CallSite = std::function<std::string(const sim::Definition& module, std::uint64_t address)>;

class Collectives;

// Formatter of events. Immutable after construction, so threads may share it if `call_site` may be shared. Each call
// allocates strings and searches definitions; EventTextCache caches the results.
class EventText {
 public:
  // All references must outlive this object. An empty `call_site` omits lines of source. Without `collectives` the
  // words on a collective call's message omit its algorithm and step.
  EventText(const Trace& trace, const TraceNames& names, CallSite call_site = {},
            const Collectives* collectives = nullptr);

  // "puts its header on shm: 300000 bytes for portal 0 (receives)", without a newline. `arrival`: the arrival of the
  // event's message, needed for a kernel_pass, which describes the entry only; nullptr: not known. Requires: `entry` is
  // an element of the trace's entries, because the text of a kernel_pass depends on the elements behind it.
  [[nodiscard]] std::string of(const Trace::Entry& entry, const sim::TraceEvent* arrival = nullptr) const;
  // The two parts of a kernel_pass: the entry, "the entry "odd tags"", and the reason, "no match, it accepts tag 3, and
  // the message has tag 4".
  [[nodiscard]] std::string passed_entry(const Trace::Entry& entry) const;
  [[nodiscard]] std::string why_passed(const Trace::Entry& entry, const sim::TraceEvent* arrival) const;
  // The call of an mpi_enter: "MPI_Send (heat.c:41)".
  [[nodiscard]] std::string call(const Trace::Entry& entry) const;
  // The envelope of an event with a message's match bits: "tag 7 from 0 in MPI_COMM_WORLD", "collective call 3 of
  // MPI_COMM_WORLD: bcast by tree, ...".
  [[nodiscard]] std::string envelope(const Trace::Entry& entry) const;
  // The meaning of the event's match bits, by the definitions of the sender when it sent the message: "tag 7 from 0 in
  // MPI_COMM_WORLD". All texts about match bits use this function, so that they agree on the definitions.
  [[nodiscard]] std::string bits(const Trace::Entry& entry) const { return bits(entry, entry.event.portal); }
  // The communicator in the match bits: "MPI_COMM_WORLD". Requires: match bits of an MPI message or of a collective
  // call.
  [[nodiscard]] std::string communicator(const Trace::Entry& entry) const;
  // The fields of an MPI message's match bits: "tag 7, source 0, context 4, type short"; "" for other events.
  [[nodiscard]] std::string split_bits(const Trace::Entry& entry) const;
  // Contents and envelope: "25 x MPI_INT, tag 7 from 0 in MPI_COMM_WORLD" for a send_begin; a number of bytes if the
  // datatype is not known.
  [[nodiscard]] std::string message(const Trace::Entry& entry) const;

  // Whether a number in the events changes its meaning during the run. The text of an event then depends on the time at
  // which its message was sent, and must not be cached.
  [[nodiscard]] bool by_sending() const { return senders_.redefine(); }
  // Times of all definitions of all ranks, ascending. Numbers keep their meaning between two of them.
  [[nodiscard]] const std::vector<std::uint64_t>& definition_times() const { return definition_times_; }

 private:
  // Like bits(entry), for an event that does not name its portal.
  [[nodiscard]] std::string bits(const Trace::Entry& entry, std::uint8_t portal) const;
  // Parts of of(), one for each group of event kinds.
  [[nodiscard]] std::string window(const Trace::Entry& entry) const;
  [[nodiscard]] std::string elements(const Trace::Entry& entry) const;
  [[nodiscard]] std::string of_kernel(const Trace::Entry& entry) const;
  [[nodiscard]] std::string of_request(const Trace::Entry& entry) const;
  [[nodiscard]] std::string collective_call(const Trace::Entry& entry) const;
  [[nodiscard]] std::string of_structure(const Trace::Entry& entry) const;
  [[nodiscard]] std::string of_pass(const Trace::Entry& entry, const sim::TraceEvent* arrival) const;
  [[nodiscard]] std::string link_of(const Trace::Entry& entry) const;
  [[nodiscard]] std::string linked_entry(const Trace::Entry& entry) const;
  [[nodiscard]] std::string of_collective(const Trace::Entry& entry) const;
  [[nodiscard]] std::string of_rank(const Trace::Entry& entry) const;

  const Trace& trace_;
  const TraceNames& names_;
  CallSite call_site_;
  const Collectives* collectives_;
  // Decides which rank's definitions apply to a message.
  Senders senders_;
  std::vector<std::uint64_t> definition_times_;
};

// A duration with three significant digits, "1.23 ms"; below a microsecond in whole nanoseconds, "17 ns".
[[nodiscard]] std::string duration_text(std::uint64_t ns);

}  // namespace margay::command
