// The performance variables that count messages and bytes: by protocol, by wire, by kind of header, by peer. Each is a
// row of the table of performance variables.
#include <array>

#include "mpi/tool/variable/performance.hpp"
#include "mpi_adi/rank/extension.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi {

namespace {

using portals::Kind;
using sim::WireId;
using Count = ProtocolCounts::Count;

constexpr int kUser = MPI_T_VERBOSITY_USER_BASIC;
constexpr int kUserDetail = MPI_T_VERBOSITY_USER_DETAIL;
constexpr int kTuner = MPI_T_VERBOSITY_TUNER_BASIC;
constexpr int kTunerDetail = MPI_T_VERBOSITY_TUNER_DETAIL;

template <Count ProtocolCounts::*Of>
void protocol_messages(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = (reading.rank->device().counts().*Of).messages;
}

template <Count ProtocolCounts::*Of>
void protocol_bytes(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = (reading.rank->device().counts().*Of).bytes;
}

// Readers of several rows: `which` is a wire's or a kind's number.
void wire_messages(const Reading& reading, std::uint32_t which, std::span<Word> out) {
  out[0] = reading.rank->process().kernel().initiator().counts(static_cast<WireId>(which)).messages;
}

void wire_bytes(const Reading& reading, std::uint32_t which, std::span<Word> out) {
  out[0] = reading.rank->process().kernel().initiator().counts(static_cast<WireId>(which)).bytes;
}

void kind_messages(const Reading& reading, std::uint32_t which, std::span<Word> out) {
  out[0] = reading.rank->process().kernel().initiator().counts(static_cast<Kind>(which)).messages;
}

void collective_messages(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = reading.rank->collectives()->sent().messages;
}

void collective_bytes(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = reading.rank->collectives()->sent().bytes;
}

// Parts that other ranks of the node read in shared memory, instead of messages.
void shown_parts(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = reading.rank->collectives()->shown().messages;
}

void shown_bytes(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = reading.rank->collectives()->shown().bytes;
}

void unexpected_taken(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = reading.rank->device().counts().unexpected;
}

// Counts of the kernel, which concern pairs of processes: they include messages of other communicators.
void sent_to(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  const sim::Registers& registers = reading.rank->process().kernel().registers();
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = registers.sent(reading.communicator->world_rank(static_cast<int>(i)));
  }
}

void delivered_from(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  const sim::Registers& registers = reading.rank->process().kernel().registers();
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = registers.delivered(reading.communicator->world_rank(static_cast<int>(i)));
  }
}

// A row's name and its description for tools.
struct Text {
  const char* name;
  const char* description;
};

// Rows of numbers of events, and of sums (bytes).
constexpr PerformanceVariable counter(const Text& text, Category category, int verbosity, ReadWords read,
                                      std::uint32_t which = 0) {
  return {text.name, text.description, category, verbosity, MPI_T_PVAR_CLASS_COUNTER, ValueType::count, read, which};
}

constexpr PerformanceVariable aggregate(const Text& text, Category category, int verbosity, ReadWords read,
                                        std::uint32_t which = 0) {
  return {text.name, text.description, category, verbosity, MPI_T_PVAR_CLASS_AGGREGATE, ValueType::count, read, which};
}

// Rows bound to a communicator, with an element for each member.
constexpr PerformanceVariable by_member(const Text& text, ReadWords read) {
  PerformanceVariable row = counter(text, Category::kernel, kUserDetail, read);
  row.of_communicator = row.per_member = true;
  return row;
}

template <Count ProtocolCounts::*Of>
constexpr PerformanceVariable messages(const Text& text) {
  return counter(text, Category::protocols, kUser, &protocol_messages<Of>);
}

template <Count ProtocolCounts::*Of>
constexpr PerformanceVariable bytes(const Text& text) {
  return aggregate(text, Category::protocols, kUserDetail, &protocol_bytes<Of>);
}

constexpr std::uint32_t id(WireId wire) {
  return static_cast<std::uint32_t>(wire);
}

constexpr std::uint32_t id(Kind kind) {
  return static_cast<std::uint32_t>(kind);
}

// A message counts once, under the protocol that sent it; bytes are those of its body.
using Counts = ProtocolCounts;

constexpr std::array kRows{
    messages<&Counts::short_>({"sent_short", "standard messages sent short"}),
    bytes<&Counts::short_>({"sent_short_bytes", "bytes of the messages that sent_short counts"}),
    messages<&Counts::long_matched>(
        {"sent_long_matched", "long messages whose body went straight into a posted receive"}),
    bytes<&Counts::long_matched>({"sent_long_matched_bytes", "bytes of the messages that sent_long_matched counts"}),
    messages<&Counts::long_pulled>(
        {"sent_long_pulled",
         "long messages whose body the receiver pulled, since no receive was posted in time, or by rendezvous"}),
    bytes<&Counts::long_pulled>({"sent_long_pulled_bytes", "bytes of the messages that sent_long_pulled counts"}),
    messages<&Counts::synchronous_short>({"sent_synchronous_short", "short messages of MPI_Ssend and its like"}),
    bytes<&Counts::synchronous_short>(
        {"sent_synchronous_short_bytes", "bytes of the messages that sent_synchronous_short counts"}),
    messages<&Counts::synchronous_long>(
        {"sent_synchronous_long", "long synchronous messages whose body went straight into a posted receive"}),
    bytes<&Counts::synchronous_long>(
        {"sent_synchronous_long_bytes", "bytes of the messages that sent_synchronous_long counts"}),
    messages<&Counts::synchronous_long_pulled>(
        {"sent_synchronous_long_pulled", "long synchronous messages whose body the receiver pulled"}),
    bytes<&Counts::synchronous_long_pulled>(
        {"sent_synchronous_long_pulled_bytes", "bytes of the messages that sent_synchronous_long_pulled counts"}),
    messages<&Counts::ready>({"sent_ready", "messages of MPI_Rsend and its like"}),
    bytes<&Counts::ready>({"sent_ready_bytes", "bytes of the messages that sent_ready counts"}),
    messages<&Counts::buffered>({"sent_buffered", "messages of MPI_Bsend and its like"}),
    bytes<&Counts::buffered>({"sent_buffered_bytes", "bytes of the messages that sent_buffered counts"}),
    counter({"sent_collective", "messages of collective calls"}, Category::protocols, kUser, &collective_messages),
    aggregate({"sent_collective_bytes", "bytes of the messages that sent_collective counts"}, Category::protocols,
              kUserDetail, &collective_bytes),
    counter({"shown_collective", "parts that collective calls showed others in the node's memory, instead of messages"},
            Category::protocols, kUser, &shown_parts),
    aggregate({"shown_collective_bytes", "bytes of the parts that shown_collective counts"}, Category::protocols,
              kUserDetail, &shown_bytes),
    counter({"wire_self_messages", "headers handed to the wire to oneself"}, Category::wires, kTuner, &wire_messages,
            id(WireId::self)),
    aggregate({"wire_self_bytes", "bytes of bodies handed to the wire to oneself"}, Category::wires, kTuner,
              &wire_bytes, id(WireId::self)),
    counter({"wire_shm_messages", "headers handed to shared memory: MPI's messages, answers, collectives' parts"},
            Category::wires, kTuner, &wire_messages, id(WireId::shm)),
    aggregate({"wire_shm_bytes", "bytes of bodies handed to shared memory"}, Category::wires, kTuner, &wire_bytes,
              id(WireId::shm)),
    counter({"wire_tcp_messages", "headers handed to TCP: MPI's messages, answers, collectives' parts"},
            Category::wires, kTuner, &wire_messages, id(WireId::tcp)),
    aggregate({"wire_tcp_bytes", "bytes of bodies handed to TCP"}, Category::wires, kTuner, &wire_bytes,
              id(WireId::tcp)),
    counter({"wire_forward_messages", "headers handed to ranks of other nodes through forwarders (--forward node)"},
            Category::wires, kTuner, &wire_messages, id(WireId::forward)),
    aggregate({"wire_forward_bytes", "bytes of bodies handed to them"}, Category::wires, kTuner, &wire_bytes,
              id(WireId::forward)),
    counter({"wire_guest_messages", "headers handed to TCP for processes of other jobs (MPI_Comm_connect)"},
            Category::wires, kTuner, &wire_messages, id(WireId::guest)),
    aggregate({"wire_guest_bytes", "bytes of bodies handed to it"}, Category::wires, kTuner, &wire_bytes,
              id(WireId::guest)),
    counter({"kernel_puts", "puts sent"}, Category::kernel, kTunerDetail, &kind_messages, id(Kind::put)),
    counter({"kernel_gets", "gets sent: bodies that this rank pulled"}, Category::kernel, kTunerDetail, &kind_messages,
            id(Kind::get)),
    counter({"kernel_replies", "replies sent: bodies that others pulled"}, Category::kernel, kTunerDetail,
            &kind_messages, id(Kind::reply)),
    counter({"kernel_acknowledgments", "acknowledgments sent"}, Category::kernel, kTunerDetail, &kind_messages,
            id(Kind::acknowledgment)),
    counter({"unexpected_taken", "receives that found their message in the heap"}, Category::queues, kUser,
            &unexpected_taken),
    by_member({"messages_to", "headers sent to each process of the communicator, for any communicator"}, &sent_to),
    by_member({"messages_from", "headers of each process of the communicator that were delivered here"},
              &delivered_from),
};

}  // namespace

std::span<const PerformanceVariable> message_variables() {
  return kRows;
}

}  // namespace margay::mpi
