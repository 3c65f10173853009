// One event in words: what it means to the program, without the numbers behind it (those are text.hpp's).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/read/reader.hpp"
#include "command/trace/story/senders.hpp"

namespace margay::command {

// "heat.c:41" of an address in a module; "" where that is not known.
using CallSite = std::function<std::string(const sim::Definition& module, std::uint64_t address)>;

class Collectives;

class EventWords {
 public:
  // All outlive it. `call_site` may be empty. Without `collectives` a collective call's messages do not tell its
  // algorithm and step.
  EventWords(const Trace& trace, const TraceNames& names, CallSite call_site = {},
             const Collectives* collectives = nullptr);

  // "puts its header on shm: 300000 bytes for portal 0 (receives)". No line end. `arrival`: of the message, where the
  // event is a kernel_pass, which tells of the entry; nullptr: not known. Requires: `entry` is one of the trace's.
  [[nodiscard]] std::string of(const Trace::Entry& entry, const sim::TraceEvent* arrival = nullptr) const;
  // The two parts of a kernel_pass: "the entry "odd tags"", "no match, it wants tag 3, and the message has tag 4".
  [[nodiscard]] std::string passed_entry(const Trace::Entry& entry) const;
  [[nodiscard]] std::string why_passed(const Trace::Entry& entry, const sim::TraceEvent* arrival) const;
  // "MPI_Send (heat.c:41)" of an mpi_enter.
  [[nodiscard]] std::string call(const Trace::Entry& entry) const;
  // "tag 7 from 0 in MPI_COMM_WORLD", "collective call 3 of MPI_COMM_WORLD: bcast by tree, ..." of an event that has a
  // message's bits.
  [[nodiscard]] std::string envelope(const Trace::Entry& entry) const;
  // "tag 7 from 0 in MPI_COMM_WORLD": what the match bits of the event's message mean, as its sender called things when
  // it sent it. The only way to words for a message's bits: whose definitions count is decided here.
  [[nodiscard]] std::string bits(const Trace::Entry& entry) const { return bits(entry, entry.event.portal); }
  // Of the communicator in these bits: "MPI_COMM_WORLD". Requires: an MPI message's bits, or a collective call's.
  [[nodiscard]] std::string communicator(const Trace::Entry& entry) const;
  // "tag 7, source 0, context 4, type short" of an event that has an MPI message's bits; "": of another.
  [[nodiscard]] std::string split_bits(const Trace::Entry& entry) const;
  // "25 x MPI_INT, tag 7 from 0 in MPI_COMM_WORLD" of a send_begin; else what is known of the message.
  [[nodiscard]] std::string message(const Trace::Entry& entry) const;

  // Whether numbers have other meanings at other times, so that words on a message hang on when it was sent.
  [[nodiscard]] bool by_sending() const { return senders_.redefine(); }
  // When any rank defined anything, in order: between two of them numbers keep their meanings.
  [[nodiscard]] const std::vector<std::uint64_t>& definition_times() const { return definition_times_; }

 private:
  // The same of a message to `portal`, where the event does not name it.
  [[nodiscard]] std::string bits(const Trace::Entry& entry, std::uint8_t portal) const;
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
  Senders senders_;
  std::vector<std::uint64_t> definition_times_;
};

// "1.234 ms", "17 ns": three digits at least.
[[nodiscard]] std::string duration_text(std::uint64_t ns);

}  // namespace margay::command
