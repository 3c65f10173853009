#include "command/trace/read/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/cost/facts.hpp"
#include "mpi_adi/rma/window.hpp"
#include "portals/base/verdict.hpp"
#include "portals/memory/descriptor.hpp"
#include "sim/base/poll_setting.hpp"
#include "sim/boot/findings.hpp"
#include "sim/wire/wire.hpp"

namespace margay::command {

namespace {

using sim::TraceEvent;
using sim::TraceKind;
using Type = FieldType;

// Names of an enumeration that has a name() of its own, so that a new enumerator needs no change here.
template <typename Named>
std::string_view name_as(std::uint32_t number) {
  return name(static_cast<Named>(number));
}

// Names from an array, for flags and for numbers without an enumeration in the sources.
template <const auto& kNames>
std::string_view name_in(std::uint32_t number) {
  return number < kNames.size() ? kNames[number] : "unknown";
}

// The assertions hold each table to its enumeration.
constexpr std::array<std::string_view, 4> kWalkNames = {"none", "by_index", "cut", "by_index_and_cut"};
static_assert((sim::kTraceWalkByIndex | sim::kTraceWalkCut) + 1 == kWalkNames.size());
constexpr std::array<std::string_view, 4> kGivenBackNames = {"none", "cancelled", "never_wanted", "freed"};
static_assert(static_cast<std::size_t>(sim::TraceGivenBack::freed) + 1 == kGivenBackNames.size());
constexpr std::array<std::string_view, 3> kHeapLeftNames = {"off the queue", "released", "dropped with it"};
static_assert(sim::kTraceHeapDestroyed + 1 == kHeapLeftNames.size());

std::string_view descriptor_name(std::uint32_t number) {
  return number == 0 ? "not known" : name(static_cast<portals::DescriptorType>(number - 1));
}

std::string_view operation_text(std::uint32_t number) {
  const auto operation = collectives::numbered_operation(number);
  return operation ? name(*operation) : "none";
}

std::string_view finding_name(std::uint32_t number) {
  return finding_id(static_cast<sim::Finding>(number));
}

// The enumerations of the schema, with their sizes from the layers that define them.
constexpr Enumeration kWires = {"Wires", name_as<sim::WireId>, sim::kWireCount};
constexpr Enumeration kFindings = {"Findings", finding_name, sim::kFindingCount};
constexpr Enumeration kHeaders = {"Headers", name_as<portals::Kind>, portals::kKindCount};
constexpr Enumeration kSavings = {"Saved", name_as<portals::Saved>, 4};
constexpr Enumeration kProtocols = {"Protocols", name_as<sim::TraceProtocol>, sim::kTraceProtocolCount};
constexpr Enumeration kChoices = {"Choices", name_as<sim::TraceChoice>, sim::kTraceChoiceCount};
constexpr Enumeration kBodies = {"Bodies", name_as<sim::TraceBody>, sim::kTraceBodyCount};
constexpr Enumeration kWalks = {"Walks", name_in<kWalkNames>, kWalkNames.size()};
constexpr Enumeration kLinks = {"Links", name_as<sim::TraceLink>, sim::kTraceLinkCount};
constexpr Enumeration kDescriptors = {"Kinds of descriptors", descriptor_name, sim::kTraceDescriptorKinds};
constexpr Enumeration kAccesses = {"Accesses", name_as<sim::TraceAccess>, sim::kTraceAccessCount};
constexpr Enumeration kWays = {"Ways", name_as<mpi_adi::WindowMethod>, mpi_adi::kWindowMethods};
constexpr Enumeration kEpochs = {"Epochs", name_as<sim::TraceEpoch>, sim::kTraceEpochCount};
constexpr Enumeration kSyncs = {"Synchronisations", name_as<sim::TraceSync>, sim::kTraceSyncCount};
constexpr Enumeration kOperations = {"Operations", operation_text, collectives::kOperationCount + 1};
constexpr Enumeration kAlgorithms = {"Algorithms", name_as<collectives::Algorithm>, collectives::kAlgorithmCount};
constexpr Enumeration kProbes = {"Probes", name_as<sim::TraceProbe>, sim::kTraceProbeCount};
constexpr Enumeration kRoots = {"Roots", name_as<sim::TraceRoot>, sim::kTraceRootCount};
constexpr Enumeration kDropReasons = {"Drop reasons", name_as<portals::DropReason>, portals::kDropReasonCount};
constexpr Enumeration kPassed = {"Why passed", name_as<portals::Passed>,
                                 static_cast<std::uint32_t>(portals::Passed::taken) + 1};
// Begins with 1: this event always has a cause, so 0 is damage.
constexpr Enumeration kGivenBack = {"Why given back", name_in<kGivenBackNames>, kGivenBackNames.size(), 1};
constexpr Enumeration kPollings = {"Polling", name_as<sim::PollMode>, sim::kPollModeCount};
constexpr Enumeration kHeapLeft = {"How a heap is left", name_in<kHeapLeftNames>, kHeapLeftNames.size()};

// In the order of the document, which does not list the findings.
constexpr std::array kEnumerations = {&kWires,  &kHeaders,    &kSavings,     &kProtocols, &kChoices, &kBodies,
                                      &kWalks,  &kLinks,      &kDescriptors, &kAccesses,  &kWays,    &kEpochs,
                                      &kSyncs,  &kOperations, &kAlgorithms,  &kProbes,    &kRoots,   &kDropReasons,
                                      &kPassed, &kGivenBack,  &kHeapLeft,    &kPollings};

// Conditions of fields: some slots mean different things in one kind.
bool is_reply(const TraceEvent& event) {
  return event.header == static_cast<std::uint8_t>(portals::Kind::reply);
}
bool is_no_reply(const TraceEvent& event) {
  return !is_reply(event);
}
bool is_too_small(const TraceEvent& event) {
  return event.reason == static_cast<std::uint8_t>(portals::Passed::too_small);
}
bool is_large_enough(const TraceEvent& event) {
  return !is_too_small(event);
}

// Constructors of fields, so that the rows below read as a table. "Any rank" stands for an absent rank.
constexpr Field rank_field(std::string_view name, Slot slot, std::string_view meaning = {}) {
  return {.name = name, .slot = slot, .type = Type::rank, .meaning = meaning, .none = portals::kAnyRank};
}
constexpr Field number_field(std::string_view name, Slot slot, std::string_view meaning = {}) {
  return {.name = name, .slot = slot, .meaning = meaning};
}
// 0 stands for an absent field.
constexpr Field count_field(std::string_view name, Slot slot, std::string_view meaning = {}) {
  return {.name = name, .slot = slot, .meaning = meaning, .none = 0};
}
constexpr Field bits_field(std::string_view name, Slot slot, std::string_view meaning = {}) {
  return {.name = name, .slot = slot, .type = Type::bits, .meaning = meaning};
}
constexpr Field enumeration_field(std::string_view name, Slot slot, const Enumeration& enumeration,
                                  std::optional<std::uint64_t> none = {}) {
  return {.name = name, .slot = slot, .type = Type::enumerated, .enumeration = &enumeration, .none = none};
}
// All flags are bits of `reason`; a cleared one is not printed.
constexpr Field flag_field(std::string_view name, unsigned bit, std::string_view meaning) {
  return {.name = name,
          .slot = Slot::reason,
          .type = Type::flag,
          .meaning = meaning,
          .none = 0,
          .first_bit = bit,
          .bits = 1};
}
// Restricts a field to bits of its slot: several fields may share one.
constexpr Field within(Field field, unsigned first_bit, unsigned bits) {
  field.first_bit = first_bit;
  field.bits = bits;
  return field;
}
// Restricts a field to events that meet a condition.
constexpr Field if_(bool (*applies)(const TraceEvent& event), Field field) {
  field.applies = applies;
  return field;
}

// `value` stands for an absent field.
constexpr Field without(std::uint64_t value, Field field) {
  field.none = value;
  return field;
}
// Replaces the meaning, for a field that a kind uses in another way.
constexpr Field meaning(std::string_view text, Field field) {
  field.meaning = text;
  return field;
}

// Fields that several kinds have. A name means the same in all of them.
constexpr Field kSource = rank_field("source", Slot::source);
constexpr Field kThisRank = meaning("this rank", kSource);
constexpr Field kDestination = rank_field("destination", Slot::destination);
constexpr Field kSequence = count_field("sequence", Slot::sequence);
constexpr Field kHeader = enumeration_field("header", Slot::header, kHeaders, sim::kNoHeader);
constexpr Field kPortal = without(portals::kNoPortal, number_field("portal", Slot::portal));
constexpr Field kWire = enumeration_field("wire", Slot::wire, kWires, sim::kNoWire);
constexpr Field kProtocol = enumeration_field("protocol", Slot::protocol, kProtocols, 0);
constexpr Field kReason = enumeration_field("reason", Slot::reason, kDropReasons, 0);
constexpr Field kSaved = enumeration_field("saved", Slot::saved, kSavings, 0);
constexpr Field kMatchBits = bits_field("match_bits", Slot::match_bits);
constexpr Field kBytes = number_field("bytes", Slot::bytes);
constexpr Field kBytesSaved = meaning("saved", kBytes);

// Body method and flag share `reason`: 7 bits and 1.
constexpr Field kBody = within(enumeration_field("body", Slot::reason, kBodies, 0), 0, 7);
constexpr Field kInPieces = flag_field("in_pieces", 7, "the body's memory at this rank is in pieces");
static_assert(sim::kBodyInPieces == 1U << 7U);
constexpr Field kOffset = number_field("offset", Slot::detail, "in the descriptor");
constexpr Field kAnswers = count_field("answers", Slot::detail, "the sequence of the put or get that it answers");
constexpr Field kPlace = number_field("place", Slot::detail, "the entry's, below; 0 the portal's own descriptor");
// Two fields of one name: a drop may not have counted its walk, a match always has.
constexpr Field kVisited = number_field("visited", Slot::a,
                                        "entries that the paper's walk visits, this one too (where "
                                        "walks are not recorded: that the kernel visited)");
constexpr Field kVisitedCount = count_field("visited", Slot::a, "entries that the paper's walk visits, 0 not known");
constexpr Field kWalk = enumeration_field("walk", Slot::b, kWalks, 0);
constexpr Field kRequest = number_field("request", Slot::a);
constexpr Field kDatatype = number_field("datatype", Slot::b, "its handle");
constexpr Field kCall = {.name = "call", .slot = Slot::a, .type = Type::call, .meaning = "an index in the names"};
constexpr Field kThread = number_field("thread", Slot::detail);
constexpr Field kErrorClass = count_field("error_class", Slot::b);
// Kinds about entries keep the entry's criteria in the slots of the message's match bits and length.
constexpr Field kWantedBits = meaning("that it accepts", kMatchBits);
constexpr Field kIgnoredBits = bits_field("ignore_bits", Slot::bytes, "that it ignores");
constexpr Field kWindow = within(number_field("window", Slot::match_bits, "its number"), 32, 32);
constexpr Field kBitsInPlace = meaning("as of a message in its place", kMatchBits);
constexpr Field kCallNumber = number_field("call_number", Slot::a, "the call's on its communicator");
constexpr Field kOperation = within(enumeration_field("operation", Slot::b, kOperations), 0, 8);
constexpr Field kDescriptor = enumeration_field("descriptor", Slot::b, kDescriptors, 0);
constexpr Field kInactive = flag_field("inactive", 1, "it is passed over");
constexpr Field kOwnDescriptor = flag_field("own_descriptor", 2, "the portal's, without a match list");
static_assert(sim::kTraceEntryAdopted == 1 && sim::kTraceEntryInactive == 2 && sim::kTraceEntryPortal == 4);
constexpr Field kHeap = count_field("heap", Slot::b, "its number");

// Most kinds do not use these two, so as common fields they are absent if they are 0.
constexpr Field kBitsIfAny = without(0, kMatchBits);
constexpr Field kBytesIfAny = without(0, kBytes);
constexpr std::array kCommonFields = {kSource,   kDestination, kSequence, kHeader,    kPortal,    kWire,
                                      kProtocol, kReason,      kSaved,    kBitsIfAny, kBytesIfAny};

// The schema: one row for each kind, indexed by the kind's number. The texts go into docs/trace_format.md, and a test
// compares the document with them.
constexpr std::array kEvents = {
    // Row 0 keeps numbers and indices equal.
    EventSchema{TraceKind::none, "no event", {}},
    EventSchema{TraceKind::send_begin,
                "the ADI chose a protocol",
                {kProtocol, enumeration_field("choice", Slot::reason, kChoices, 0), kMatchBits, kBytes,
                 number_field("count", Slot::detail, "of elements"),
                 without(sim::kTraceNoRequest, meaning("4294967295: sent at once, without a request", kRequest)),
                 kDatatype, meaning("body if the library sends a copy that it made of the body", kSaved)}},
    EventSchema{TraceKind::kernel_send,
                "the header of a put or a get was handed to a wire",
                {kHeader, kPortal, kWire, kMatchBits, kBytes, kBody, kInPieces}},
    EventSchema{TraceKind::kernel_sent,
                "the wire has sent the message: the wanted part of the body has left (the receiver may still ask for "
                "the remainder)",
                {kWire, kBytes, kBody, kInPieces,
                 number_field("copied_bytes", Slot::detail, "of the body, by the sender's process")}},
    EventSchema{TraceKind::kernel_arrive,
                "the header of a put or a reply was seen at its target",
                {kHeader, kPortal, kWire, kMatchBits, kBytes,
                 if_(is_no_reply, number_field("offset", Slot::detail, "of a put, in its destination")),
                 if_(is_reply, count_field("answers", Slot::detail, "of a reply, the get's sequence"))}},
    EventSchema{TraceKind::kernel_match,
                "an entry or a portal took the message",
                {kPortal, kPlace, kVisited,
                 within(enumeration_field("walk", Slot::reason, kWalks, 0), 0, sim::kTraceDescriptorShift),
                 within(enumeration_field("descriptor", Slot::reason, kDescriptors, 0), sim::kTraceDescriptorShift, 4),
                 number_field("owner", Slot::b, "what owns the descriptor")}},
    EventSchema{TraceKind::kernel_pass,
                "an entry was passed over (the first 16 of a walk; all with --trace-walks)",
                {kPortal, enumeration_field("reason", Slot::reason, kPassed), kPlace, kWantedBits, kIgnoredBits,
                 within(number_field("step", Slot::a, "of the walk, from 0"), 0, 16),
                 within(number_field("owner", Slot::a, "what owns its descriptor"), 16, 8),
                 within(enumeration_field("link", Slot::a, kLinks), 24, 4),
                 within(enumeration_field("descriptor", Slot::a, kDescriptors, 0), 28, 4),
                 if_(is_large_enough, rank_field("accepts", Slot::b, "source rank that it accepts, or any")),
                 if_(is_too_small,
                     without(sim::kTraceRoomUnknown,
                             number_field("room", Slot::b,
                                          "where it was too small: bytes that were left, 4294967295 not known")))}},
    EventSchema{TraceKind::kernel_deposit_begin, "a body that comes in parts began", {kBytes, kOffset}},
    EventSchema{
        TraceKind::kernel_deposit,
        "the whole body is in place",
        {kWire, kSaved, kBytesSaved, kOffset, kBody, kInPieces,
         count_field("aside_bytes", Slot::a_and_b, "bytes of the body that did not travel over the wire itself")}},
    EventSchema{TraceKind::kernel_ack_sent, "an acknowledgment was handed to a wire", {kSaved, kBytesSaved, kAnswers}},
    EventSchema{TraceKind::kernel_ack_arrived,
                "the acknowledgment was seen by the put's sender",
                {kSaved, kBytesSaved, kAnswers}},
    EventSchema{TraceKind::kernel_get_arrived,
                "the header of a get was seen at its target",
                {kPortal, kWire, kMatchBits, meaning("wanted", kBytes), kOffset}},
    EventSchema{TraceKind::kernel_reply_sent,
                "a reply was handed to a wire",
                {kPortal, kWire, kBytes, kAnswers, kBody, kInPieces}},
    EventSchema{TraceKind::kernel_drop,
                "the message was dropped: counted and not deposited",
                {kPortal, kReason, kMatchBits, kBytes, kVisitedCount, kWalk}},
    EventSchema{
        TraceKind::kernel_hold,
        "the message stays on the wire until there is room; recorded once, with its arrival, however often the kernel "
        "tests again",
        {kPortal, kReason, kMatchBits, kBytes, kVisitedCount, kWalk}},
    EventSchema{TraceKind::post_receive,
                "a receive was begun",
                {meaning("or any", kSource), kMatchBits, bits_field("ignore_bits", Slot::detail),
                 meaning("room", kBytes), kRequest, kDatatype}},
    EventSchema{TraceKind::search_hit,
                "the heap held its message",
                {kMatchBits, kBytes, kSaved, kRequest, flag_field("taken_out", 0, "a matched probe had taken it out")}},
    EventSchema{
        TraceKind::search_miss, "the heap held no matching message: the receive is posted", {kMatchBits, kRequest}},
    EventSchema{TraceKind::receive_complete, "the message is in the user's memory", {kBytes, kRequest}},
    EventSchema{TraceKind::request_complete,
                "a request is complete, of the program or of the library",
                {kBytes, kRequest, kErrorClass, flag_field("cancelled", 0, "the request was cancelled")}},
    EventSchema{TraceKind::pull_begin,
                "the receiver asks for a body that was not saved",
                {kBytes, count_field("get_sequence", Slot::detail), kRequest}},
    EventSchema{TraceKind::pull_complete, "the pulled body has arrived", {kBytes, kRequest}},
    EventSchema{
        TraceKind::stop, "a header-only acknowledgment stopped a transmission", {meaning("of the body", kBytes)}},
    EventSchema{TraceKind::wait_begin, "a thread of the rank begins to wait", {kCall, kThread}},
    EventSchema{TraceKind::wait_end, "the wait of a thread has ended", {kCall, kThread}},
    EventSchema{TraceKind::sleep,
                "a waiting rank gives its processor away until a wake",
                {count_field("limit_ns", Slot::detail, "0 none")}},
    EventSchema{TraceKind::wake, "the rank runs again", {}},
    EventSchema{TraceKind::coprocessor_begin, "the message coprocessor works while the rank computes", {}},
    EventSchema{
        TraceKind::coprocessor_end, "the work of the coprocessor ends", {number_field("messages", Slot::a, "handled")}},
    EventSchema{TraceKind::peer_lost,
                "a peer is lost: no message will arrive from it or reach it again",
                {rank_field("peer", Slot::source), kWire, kReason}},
    EventSchema{
        TraceKind::mpi_enter,
        "the program enters a call (not recorded: calls without a message, such as those of info objects and error "
        "classes, in other threads than the one that initialized MPI)",
        {kCall, kThread, bits_field("return_address", Slot::match_bits, "behind the call")}},
    EventSchema{TraceKind::mpi_leave,
                "the call returns, or an error ends it and the process",
                {kCall, kErrorClass, kThread, flag_field("fatal", 0, "the error ends the process")}},
    EventSchema{
        TraceKind::take_back,
        "a message was cancelled that its wire had not begun with; an empty one, to the cancel portal, goes in its "
        "place and under its number",
        {kWire, kBytes}},
    EventSchema{TraceKind::shared_write,
                "a collective call showed the rank's part in memory of the node, and waits for the others'",
                {kThisRank, kBitsInPlace, kBytes, kCallNumber, kOperation}},
    EventSchema{TraceKind::shared_read,
                "a collective call of the rank reads another rank's part there",
                {meaning("who wrote it", kSource), meaning("this rank", kDestination), kBitsInPlace, kBytes,
                 kCallNumber, kOperation}},
    EventSchema{TraceKind::window_access,
                "an origin accesses a window; before the messages that this takes",
                {kThisRank, meaning("target", kDestination), kMatchBits, kWindow, meaning("of all elements", kBytes),
                 number_field("offset", Slot::detail, "of the first from the window's beginning (dynamic: an address)"),
                 enumeration_field("way", Slot::reason, kWays), enumeration_field("access", Slot::a, kAccesses),
                 enumeration_field("epoch", Slot::b, kEpochs)}},
    EventSchema{TraceKind::window_sync,
                "a synchronisation of this rank on a window is complete; the mpi_enter of its call has its beginning",
                {kThisRank, meaning("target, or any", kDestination), kMatchBits, kWindow,
                 enumeration_field("synchronisation", Slot::a, kSyncs)}},
    EventSchema{TraceKind::synchronous_answer,
                "the receiver answers a synchronous send: a receive took the message",
                {meaning("of the answer", kMatchBits), count_field("answer_sequence", Slot::detail), kRequest}},
    EventSchema{
        TraceKind::collective_begin,
        "a collective call of this rank begins; one that does not block, when its turn on the communicator comes",
        {kThisRank, meaning("as of its messages", kMatchBits),
         meaning("of one rank's data; where each has its own length, of the blocks that this rank "
                 "sends, or receives when it sends none",
                 kBytes),
         kCallNumber, kOperation, within(enumeration_field("algorithm", Slot::b, kAlgorithms), 8, 8),
         within(number_field("root", Slot::b), 16, 16), enumeration_field("root_named", Slot::reason, kRoots)}},
    EventSchema{TraceKind::collective_end,
                "the collective call is complete at this rank: what it sent has been taken",
                {kThisRank, meaning("as of its messages", kMatchBits), kCallNumber, kErrorClass}},
    EventSchema{
        TraceKind::given_back,
        "a message leaves the heap unread: its sender cancelled it, its sender ends and no receive had come, or its "
        "communicator was freed",
        {kMatchBits, kBytes, enumeration_field("cause", Slot::reason, kGivenBack)}},
    EventSchema{TraceKind::found,
                "a probe of the program found the message in the heap",
                {kHeader, kPortal, kMatchBits, kBytes, enumeration_field("probe", Slot::reason, kProbes),
                 number_field("polls", Slot::a,
                              "how many calls of `MPI_Iprobe` and `MPI_Improbe` found nothing since the rank's last "
                              "one that found a message")}},
    EventSchema{
        TraceKind::entry_linked,
        "a program's entry is in a portal's match list from now on, or the portal has a descriptor of its own",
        {kPortal, rank_field("accepts", Slot::source, "source rank, or any"), kWantedBits, kIgnoredBits, kPlace,
         count_field("next_place", Slot::a, "of the entry behind it, 0 none"), within(kHeap, 0, 28),
         within(kDescriptor, 28, 4), flag_field("adopted", 0, "the entry is outside the list: only links lead to it"),
         kInactive, kOwnDescriptor}},
    EventSchema{
        TraceKind::entry_unlinked, "the entry was removed from the portal's list", {kPortal, kPlace, kOwnDescriptor}},
    EventSchema{TraceKind::entry_switched, "the entry was activated or deactivated", {kPortal, kPlace, kInactive}},
    EventSchema{
        TraceKind::heap_left,
        "a program's message leaves the queue of its heap: its memory still taken, free, or destroyed with the heap",
        {kHeader, kPortal, kMatchBits, kBytes, number_field("heap", Slot::a, "its number"),
         enumeration_field("how", Slot::reason, kHeapLeft)}},
    EventSchema{TraceKind::finding,
                "a check of this rank reports a mistake of the program",
                {kThisRank, enumeration_field("finding", Slot::a, kFindings)}},
    EventSchema{
        TraceKind::library_event,
        "an event of a communication library, by a sentence that the library defines; with the identity of its "
        "message if it is about one",
        {meaning("this rank; of an event about an arrived message: its sender", kSource),
         meaning("the other rank, if the event has one; of an event about an arrived message: this rank", kDestination),
         number_field("library", Slot::match_bits, "its place in the rank"),
         number_field("event", Slot::reason, "the library's number of its sentence"), kBytes,
         number_field("detail", Slot::detail), number_field("a", Slot::a), number_field("b", Slot::b)}},
    EventSchema{TraceKind::poll_interval_changed,
                "the rank polls a wire at another interval from now on",
                {kWire, enumeration_field("polling", Slot::reason, kPollings),
                 number_field("rounds", Slot::a, "from one poll to the next, 0 not counted in rounds"),
                 number_field("rounds_before", Slot::b, "before the change"),
                 count_field("poll_ns", Slot::detail, "measured cost of a poll that finds nothing, 0 not known"),
                 number_field("others", Slot::bytes,
                              "polls of other wires that found something since the last such poll of this wire")}},
};
// The kind's number is the index; the assertions make a forgotten or misplaced row a compile error.
static_assert(kEvents.size() == sim::kTraceKindCount);
static_assert([] {
  for (std::size_t i = 0; i < kEvents.size(); ++i) {
    if (static_cast<std::size_t>(kEvents[i].kind) != i) return false;
  }
  return true;
}());

// Returns every slot as 64 bits, so that fields need no types of their own.
std::uint64_t slot_value(Slot slot, const TraceEvent& event) {
  switch (slot) {
    case Slot::source:
      return event.source;
    case Slot::destination:
      return event.destination;
    case Slot::sequence:
      return event.sequence;
    case Slot::header:
      return event.header;
    case Slot::portal:
      return event.portal;
    case Slot::wire:
      return event.wire;
    case Slot::protocol:
      return static_cast<std::uint64_t>(event.protocol);
    case Slot::reason:
      return event.reason;
    case Slot::saved:
      return static_cast<std::uint64_t>(event.saved);
    case Slot::match_bits:
      return event.match_bits;
    case Slot::bytes:
      return event.bytes;
    case Slot::detail:
      return event.detail;
    case Slot::a:
      return event.a;
    case Slot::b:
      return event.b;
    case Slot::a_and_b:
      return event.a | std::uint64_t{event.b} << 32U;
  }
  return 0;
}

// A shift by 64 bits is undefined.
constexpr std::uint64_t mask_of(const Field& field) {
  return (field.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.bits) - 1) << field.first_bit;
}

// The faulty number, named by its slot if the slot is one byte of the event, otherwise by its field.
std::string fault_text(const Field& field, const TraceEvent& event, std::uint64_t value) {
  switch (field.slot) {
    case Slot::header:
      return fmt::format("its header is of kind {}", value);
    case Slot::wire:
    case Slot::protocol:
    case Slot::reason:
    case Slot::saved:
      return fmt::format("its {} is {}", name(field.slot), slot_value(field.slot, event));
    default:
      return fmt::format("its {} is {}, of {}", field.name, value, field.enumeration->end);
  }
}

}  // namespace

std::span<const Enumeration* const> enumerations() {
  return kEnumerations;
}

std::string_view name(Slot slot) {
  constexpr std::array<std::string_view, 15> kNames = {"source", "destination", "sequence", "header", "portal",
                                                       "wire",   "protocol",    "reason",   "saved",  "match_bits",
                                                       "bytes",  "detail",      "a",        "b",      "a, b"};
  return kNames.at(static_cast<std::size_t>(slot));
}

// The array is padded with fields without a name.
std::span<const Field> EventSchema::fields() const {
  const auto end = std::find_if(fields_or_empty.begin(), fields_or_empty.end(),
                                [](const Field& field) { return field.name.empty(); });
  return {fields_or_empty.begin(), end};
}

const EventSchema* schema_of(TraceKind kind) {
  const auto number = static_cast<std::size_t>(kind);
  return number == 0 || number >= kEvents.size() ? nullptr : &kEvents[number];
}

std::span<const Field> common_fields() {
  return kCommonFields;
}

// Masks first: other fields of the slot must not leak into the value.
std::optional<std::uint64_t> value_of(const Field& field, const TraceEvent& event) {
  if (field.applies != nullptr && !field.applies(event)) return std::nullopt;
  const std::uint64_t value = (slot_value(field.slot, event) & mask_of(field)) >> field.first_bit;
  if (value == field.none) return std::nullopt;
  return value;
}

// A number beyond the enumeration may come from a newer recorder.
std::string_view value_name(const Field& field, std::uint64_t value) {
  return value < field.enumeration->end ? field.enumeration->name(static_cast<std::uint32_t>(value)) : "unknown";
}

// A value outside an enumeration would be used as an index by readers. The first fault suffices.
std::string fault_of_fields(const TraceEvent& event) {
  std::string fault;
  std::uint64_t reason_bits = 0;
  for_each_field(event.kind, [&](const Field& field) {
    if (field.slot == Slot::reason) reason_bits |= mask_of(field);
    if (!fault.empty() || field.enumeration == nullptr) return;
    const std::optional<std::uint64_t> value = value_of(field, event);
    if (value && (*value < field.enumeration->first || *value >= field.enumeration->end))
      fault = fault_text(field, event, *value);
  });
  // No recorder of this version sets a bit that no field of the kind has.
  if (fault.empty() && (event.reason & ~reason_bits) != 0) fault = fmt::format("its reason is {}", event.reason);
  return fault;
}

}  // namespace margay::command
