#include "command/trace/names/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "mpi_adi/device/portal_numbers.hpp"
#include "mpi_adi/object/error_class.hpp"
#include "sim/base/text.hpp"
#include "sim/kernel/forward_frame.hpp"

namespace margay::command {

namespace {

// An envelope in match bits, from the top: 32 bits of tag, 16 of source, 13 of context, 3 of type
// (mpi_adi/device/match_bits).
constexpr std::uint64_t kTagMask = 0xffff'ffff'0000'0000;
constexpr std::uint64_t kSourceMask = 0xffff'0000;
constexpr std::uint64_t kContextMask = 0xfff8;
constexpr std::uint64_t kTypeMask = 7;
constexpr std::uint32_t kReadyType = 1;

// Callers handle replies before, so the bit of a reply has no word here.
std::string_view type_text(std::uint32_t type) {
  constexpr std::string_view kWords[] = {"", ", ready", "", "", ", long", ", ready, long", "", ""};
  return kWords[type & kTypeMask];
}

// The time for definitions that hold from the beginning on: portals, owners.
constexpr std::uint64_t kAlways = ~std::uint64_t{0};

// The upper three bits of the tags of partitioned communication.
constexpr std::uint32_t kSetup = 6, kPartitions = 7;

std::uint32_t partition_message(std::uint32_t tag) {
  return tag & mpi_adi::kPartitionMessagesMax;
}

// The upper three bits of a tag above the program's select its use.
std::string tag_text(std::uint32_t tag) {
  if (tag <= kUserTagMost) return fmt::format("tag {}", tag);
  if (tag >> 29U == kSetup) return fmt::format("the setup of partitions with tag {}", tag & kUserTagMost);
  if (tag >> 29U == kPartitions) {
    return fmt::format("partitions of channel {}, message {}", (tag & kUserTagMost) >> mpi_adi::kPartitionMessageBits,
                       partition_message(tag));
  }
  return fmt::format("the library's tag 0x{:x}", tag);
}

// Whether a number never changes its meaning. A lost later definition of such a number can only have renamed it.
bool is_lasting(sim::DefinitionKind kind, std::uint64_t number) {
  constexpr std::uint64_t kWorldContext = 0, kSelfContext = 2;
  // Kinds of handles in the MPICH ABI.
  constexpr unsigned kHandleKindShift = 30, kPredefined = 1;
  if (kind == sim::DefinitionKind::communicator) return number == kWorldContext || number == kSelfContext;
  if (kind == sim::DefinitionKind::datatype) return number >> kHandleKindShift == kPredefined;
  return kind == sim::DefinitionKind::portal || kind == sim::DefinitionKind::owner ||
         kind == sim::DefinitionKind::module || kind == sim::DefinitionKind::match_bits;
}

struct WindowRequestText {
  std::string_view text;
  bool is_access = false;
};
// Indexed by the number of the request in the bits (mpi_adi/rma/bits).
constexpr WindowRequestText kWindowRequestTexts[1 + mpi_adi::kWindowRequestKinds] = {
    {"an access", true},
    {"a request for a shared lock", false},
    {"a request for an exclusive lock", false},
    {"the end of a lock", false},
    {"the grant of a lock", false},
    {"the beginning of an exposure", false},
    {"the end of an access epoch", false},
    {"a refusal of an access", false},
    {"an access", true},
    {"an access", true},
    {"an access", true},
    {"an access", true},
    {"a check of an access", false},
    {"a check of accesses", false}};
const WindowRequestText& window_request(std::uint64_t match_bits) {
  const std::uint32_t number = static_cast<std::uint32_t>(match_bits) >> mpi_adi::kWindowRequestShift;
  return kWindowRequestTexts[number <= mpi_adi::kWindowRequestKinds ? number : 0];
}

// Whether the bits are an answer. Requires: an MPI message to the receive portal. The receiver of a pull puts its
// request's number in place of an envelope.
bool is_reply(std::uint64_t match_bits) {
  return (match_bits & 2U) != 0;
}

}  // namespace

// The layout of mpi_adi/device/match_bits.
EnvelopeBits split_envelope(std::uint64_t match_bits) {
  return {static_cast<std::uint32_t>(match_bits >> 32U), static_cast<std::uint32_t>((match_bits & kSourceMask) >> 16U),
          static_cast<std::uint32_t>((match_bits & kContextMask) >> 3U),
          static_cast<std::uint32_t>(match_bits & kTypeMask)};
}

// The tag of bodies in pieces has the same low bits and is excluded.
bool is_of_window(std::uint8_t portal, std::uint64_t match_bits) {
  if (mpi_adi::is_library_portal(portal) || portal == sim::kForwardPortal) return false;
  const auto tag = static_cast<std::uint32_t>(match_bits);
  return (tag & ((1U << mpi_adi::kWindowRequestShift) - 1)) == mpi_adi::kWindowTag && tag != mpi_adi::kPiecesTag;
}

bool is_setup_of_partitions(std::uint64_t match_bits) {
  return match_bits >> 61U == kSetup;
}

namespace {

// The number under which the members of a context's collective calls are defined. The members of an agreement are only
// some members of the communicator, so they have a definition of their own.
constexpr std::uint32_t definition_of_calls(std::uint32_t context) {
  return is_agreement(context) ? context | 1U : context & ~1U;
}

// "the agreement with tag 7": the upper two bits of the tag are its kind (collectives/comm/agree). Only a group's tag
// is the program's.
std::string agreement_text(std::uint32_t number) {
  constexpr unsigned kKindShift = 30;
  constexpr std::uint32_t kOfGroup = 0, kOfText = 3;
  if (number >> kKindShift == kOfGroup) return fmt::format("the agreement with tag {}", number);
  return number >> kKindShift == kOfText ? "the agreement by string tag" : fmt::format("agreement 0x{:x}", number);
}

std::string ranks_text(std::uint64_t count) {
  return sim::counted(count, "rank");
}

}  // namespace

std::string collective_call_text(std::uint32_t context, std::uint32_t number) {
  if (is_agreement(context)) return agreement_text(number);
  const PersistentNumber persistent(number);
  if (!persistent.is_persistent) return fmt::format("collective call {}", number);
  return persistent_call_text(persistent.channel, persistent.start);
}

std::string persistent_call_text(std::uint32_t channel, std::uint64_t start) {
  return fmt::format("persistent collective call {}, start {}", channel, start);
}

std::string error_name(std::uint32_t error_class) {
  const std::string_view name = mpi_adi::error_class_name(static_cast<int>(error_class));
  return name.empty() ? fmt::format("class {}", error_class) : std::string(name);
}

// Indices, because definitions of one number are compared by time.
TraceNames::TraceNames(const Trace& trace, WireName wire_name)
    : trace_(trace), wire_name_(wire_name), definitions_(trace.files.size()) {
  for (std::size_t file = 0; file < trace.files.size(); ++file) {
    const std::vector<sim::Definition>& all = trace.files[file].definitions;
    for (std::uint32_t i = 0; i < all.size(); ++i) definitions_[file][{all[i].kind, all[i].number}].push_back(i);
  }
}

const sim::Definition* TraceNames::find(std::uint32_t file, sim::DefinitionKind kind, std::uint64_t number,
                                        std::uint64_t time_ns) const {
  const auto found = definitions_[file].find({kind, number});
  if (found == definitions_[file].end()) return nullptr;
  const std::vector<sim::Definition>& all = trace_.files[file].definitions;
  // Where the table of definitions was full, a definition may have been lost after the last one that was kept. A number
  // that can change its meaning is then not trusted.
  const bool may_be_old = trace_.files[file].definitions_lost != 0 && time_ns != kAlways && all.back().time < time_ns &&
                          !is_lasting(kind, number);
  if (may_be_old) return nullptr;
  // With one definition the time does not matter.
  if (time_ns == kUnknownTime) return found->second.size() == 1 ? &all[found->second.front()] : nullptr;
  const sim::Definition* latest = nullptr;
  for (const std::uint32_t at : found->second) {
    if (all[at].time <= time_ns) latest = &all[at];
  }
  return latest;
}

// The contexts of a communicator differ in the lowest bit, and the definition has the even one.
std::string TraceNames::communicator(std::uint32_t file, std::uint32_t context, std::uint64_t time_ns) const {
  const sim::Definition* const found = find(file, sim::DefinitionKind::communicator, context & ~1U, time_ns);
  if (found == nullptr) return fmt::format("communicator {}", context & ~1U);
  if (!found->text.empty()) return found->text;
  return fmt::format("communicator {} ({})", context & ~1U, ranks_text(found->value >> 32U));
}

std::string TraceNames::communicator_of_calls(std::uint32_t file, std::uint32_t context, std::uint64_t time_ns) const {
  if (!is_agreement(context)) return communicator(file, context, time_ns);
  const sim::Definition* const found =
      find(file, sim::DefinitionKind::communicator, definition_of_calls(context), time_ns);
  return fmt::format("{} of {}", found == nullptr ? "some ranks" : ranks_text(found->value >> 32U),
                     communicator(file, context, time_ns));
}

std::string TraceNames::window(std::uint32_t file, std::uint32_t number, std::uint64_t time_ns) const {
  // A window is defined as the communicator of its context.
  const sim::Definition* const found = find(file, sim::DefinitionKind::communicator, number & ~1U, time_ns);
  return found == nullptr || found->text.empty() ? fmt::format("window {}", number)
                                                 : fmt::format("window \"{}\"", found->text);
}

std::uint32_t TraceNames::members(std::uint32_t file, std::uint32_t context, std::uint64_t time_ns) const {
  const sim::Definition* const found =
      find(file, sim::DefinitionKind::communicator, definition_of_calls(context), time_ns);
  return found == nullptr ? 0 : static_cast<std::uint32_t>(found->value >> 32U);
}

std::uint64_t TraceNames::heap_bytes(std::uint32_t file) const {
  const sim::Definition* const found = find(file, sim::DefinitionKind::owner, mpi_adi::kOwnerHeap, kAlways);
  return found == nullptr ? 0 : found->value;
}

std::optional<std::uint64_t> TraceNames::members_number(std::uint32_t file, std::uint32_t context,
                                                        std::uint64_t time_ns) const {
  const sim::Definition* const found = find(file, sim::DefinitionKind::members, definition_of_calls(context), time_ns);
  if (found == nullptr) return {};
  return found->value;
}

std::string TraceNames::elements(std::uint32_t file, std::uint32_t type, std::uint64_t bytes,
                                 std::uint64_t time_ns) const {
  const sim::Definition* const found = find(file, sim::DefinitionKind::datatype, type, time_ns);
  // A datatype of 0 bytes, or one whose definition was lost, gives no number of elements.
  if (found == nullptr || found->value == 0) return sim::counted(bytes, "byte");
  return fmt::format("{} x {}", bytes / found->value, found->text);
}

std::string TraceNames::library_event(std::uint32_t file, std::uint64_t library, std::uint64_t event,
                                      std::uint64_t time_ns) const {
  const sim::Definition* const found =
      find(file, sim::DefinitionKind::library_event, sim::library_event_number(library, event), time_ns);
  return found == nullptr ? std::string() : found->text;
}

std::string TraceNames::portal(std::uint32_t file, std::uint8_t portal) const {
  const sim::Definition* const found = find(file, sim::DefinitionKind::portal, portal, kAlways);
  if (found == nullptr) return fmt::format("portal {}", portal);
  return fmt::format("portal {} ({})", portal, found->text);
}

// Prefers a name that the program or the device gave, then the owner, then the position in the list.
std::string TraceNames::entry(std::uint32_t file, std::uint8_t portal, std::uint64_t order, std::uint32_t owner,
                              std::uint64_t time_ns) const {
  const sim::Definition* const found =
      find(file, sim::DefinitionKind::entry, sim::entry_number(portal, order), time_ns);
  if (found != nullptr && !found->text.empty()) {
    return fmt::format("the entry \"{}\"", found->text);
  }
  // An entry without a position in the list is reached by a link only. It is the second entry of a receive, for a
  // message that is too long.
  const bool is_second = owner == mpi_adi::kOwnerReceive && order == 0 && is_envelope(file, portal);
  if (is_second) return "that receive's second entry, for what is too long";
  if (const sim::Definition* const kind = find(file, sim::DefinitionKind::owner, owner, kAlways)) return kind->text;
  // A portal without a list has one descriptor.
  if (order == 0) return "the descriptor of " + this->portal(file, portal);
  return fmt::format("entry {}", order);
}

// A program on portals may use the number of MPI's receive portal for a purpose of its own. Only MPI's device defines
// an owner of receives, so that definition decides.
bool TraceNames::is_envelope(std::uint32_t file, std::uint8_t portal) const {
  return portal == mpi_adi::kReceivePortal &&
         find(file, sim::DefinitionKind::owner, mpi_adi::kOwnerReceive, kAlways) != nullptr;
}

// All messages to the acknowledgment portal are answers.
bool TraceNames::is_answer(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits) const {
  if (portal == mpi_adi::kAcknowledgmentPortal) return is_envelope(file, mpi_adi::kReceivePortal);
  return is_envelope(file, portal) && is_reply(match_bits);
}

bool TraceNames::belongs_to_library(std::uint32_t file, std::uint8_t portal, const sim::TraceEvent& event) const {
  const std::uint64_t bits = event.match_bits;
  if (is_answer(file, portal, bits)) return true;
  if (portal == mpi_adi::kReceivePortal) {
    // Partitions and their setup have tags above the program's, but its calls requested them.
    const std::uint32_t tag = split_envelope(bits).tag;
    return is_envelope(file, portal) && tag > kUserTagMost && tag >> 29U != kSetup && tag >> 29U != kPartitions;
  }
  if (!is_of_window(portal, bits) || is_internal(file, portal) || !is_envelope(file, mpi_adi::kReceivePortal))
    return false;
  // A get of no bytes is a flush: its reply follows all accesses before it.
  const bool is_flush = event.header == static_cast<std::uint8_t>(portals::Kind::get) && event.bytes == 0;
  return is_flush || !window_request(bits).is_access;
}

std::uint64_t TraceNames::uses_of(std::uint32_t file, std::uint8_t portal) const {
  const sim::Definition* const found = find(file, sim::DefinitionKind::portal, portal, kAlways);
  return found == nullptr ? 0 : found->value;
}

// A program on portals may use these portals, too; only MPI's device defines an owner of receives.
bool TraceNames::is_of_library(std::uint32_t file, std::uint8_t portal) const {
  return mpi_adi::is_library_portal(portal) && is_envelope(file, mpi_adi::kReceivePortal);
}

NamedMessage TraceNames::library_message(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                         std::uint64_t ignore_bits) const {
  for (std::uint64_t index = 0;; ++index) {
    const sim::Definition* const found =
        find(file, sim::DefinitionKind::match_bits, sim::entry_number(portal, index), kAlways);
    if (found == nullptr) return {};
    // "ff a request {number}", see sim::named_bits_text().
    std::uint64_t described = 0;
    const char* const end = found->text.data() + found->text.size();
    const char* const behind = std::from_chars(found->text.data(), end, described, 16).ptr;
    if (((match_bits ^ found->value) & ~described) != 0 || behind == end) continue;
    const std::string_view name(behind + 1, end);
    // Criteria that ignore a part of the comparison, or of the number, have no name.
    const bool has_number = name.find("{number}") != std::string_view::npos;
    if ((ignore_bits & (has_number ? ~std::uint64_t{0} : ~described)) != 0) continue;
    return fill_in(name, match_bits, described, ignore_bits);
  }
}

bool TraceNames::is_internal(std::uint32_t file, std::uint8_t portal) const {
  return (uses_of(file, portal) & sim::kInternalPortal) != 0;
}

bool TraceNames::is_collective(std::uint32_t file, std::uint8_t portal) const {
  return (uses_of(file, portal) & sim::kCollectivePortal) != 0;
}

bool TraceNames::is_collective_data(std::uint32_t file, std::uint8_t portal) const {
  return (uses_of(file, portal) & (sim::kCollectivePortal | sim::kCollectiveWordsPortal)) == sim::kCollectivePortal;
}

const sim::Definition* TraceNames::partitions(std::uint32_t file, std::uint64_t match_bits, std::uint64_t time_ns,
                                              bool sends) const {
  if (split_envelope(match_bits).tag >> 29U != kPartitions) return nullptr;
  return find(file, sim::DefinitionKind::partitions, mpi_adi::partitions_number(match_bits, sends), time_ns);
}

std::optional<std::uint32_t> TraceNames::program_tag(std::uint32_t file, std::uint64_t match_bits,
                                                     std::uint64_t time_ns) const {
  const std::uint32_t tag = split_envelope(match_bits).tag;
  if (tag <= kUserTagMost) return tag;
  if (tag >> 29U == kSetup) return tag & kUserTagMost;
  // The file may be either side's.
  for (const bool sends : {true, false}) {
    const sim::Definition* const found = partitions(file, match_bits, time_ns, sends);
    if (found != nullptr) return static_cast<std::uint32_t>(found->value);
  }
  return {};
}

std::string TraceNames::tag(std::uint32_t file, std::uint64_t match_bits, std::uint64_t time_ns, bool wanted) const {
  const std::uint32_t tag = split_envelope(match_bits).tag;
  // A file may have the definitions of both sides, for a channel from a rank to itself. The sender's definition is then
  // used, because only the sender divides its partitions into messages.
  const sim::Definition* const senders = wanted ? nullptr : partitions(file, match_bits, time_ns, true);
  const sim::Definition* const found = senders != nullptr ? senders : partitions(file, match_bits, time_ns, false);
  if (found == nullptr) return tag_text(tag);
  const auto its = static_cast<std::uint32_t>(found->value);
  const std::uint64_t all = found->value >> 32U;
  const std::uint64_t message = partition_message(tag);
  // Only the sender divides its partitions into messages, so the receiver cannot name them.
  if (senders == nullptr) {
    return fmt::format("message {} of partitions with tag {} ({}, each {})", message, its, all, found->text);
  }
  // The inverse of the sender's division: a channel has a bounded number of messages.
  const std::uint64_t in_each = (all + mpi_adi::kPartitionMessagesMax - 1) / mpi_adi::kPartitionMessagesMax;
  const std::uint64_t first = message * in_each, last = std::min((message + 1) * in_each, all) - 1;
  return first == last
             ? fmt::format("partition {} of {} (each {}) with tag {}", first, all, found->text, its)
             : fmt::format("partitions {} to {} of {} (each {}) with tag {}", first, last, all, found->text, its);
}

// Tries the most specific meaning first, and the raw number last.
std::string TraceNames::bits(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                             std::uint64_t time_ns) const {
  if (is_collective(file, portal)) {
    const EnvelopeBits is = split_envelope(match_bits);
    return fmt::format("{} of {}", collective_call_text(is.context, is.tag),
                       communicator_of_calls(file, is.context, time_ns));
  }
  // A window's bits and a send's number use portals of the device, so they precede the test for an envelope.
  if (std::string text = about_window(file, portal, match_bits, time_ns); !text.empty()) return text;
  if (std::string text = about_send(file, portal, match_bits); !text.empty()) return text;
  if (std::string text = library_message(file, portal, match_bits).text; !text.empty()) return text;
  if (!is_envelope(file, portal)) return fmt::format("bits 0x{:x}", match_bits);
  if (is_reply(match_bits)) return fmt::format("the answer to number {}", match_bits >> 32U);
  const EnvelopeBits is = split_envelope(match_bits);
  return fmt::format("{} from {} in {}{}", tag(file, match_bits, time_ns), is.source,
                     communicator(file, is.context, time_ns), type_text(is.type));
}

std::string TraceNames::wanted(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                               std::uint64_t ignore_bits, std::uint64_t time_ns) const {
  const bool is_described = is_collective(file, portal) || !about_send(file, portal, match_bits).empty() ||
                            !about_window(file, portal, match_bits, time_ns).empty();
  if (ignore_bits == 0 && is_described) return bits(file, portal, match_bits, time_ns);
  if (std::string text = library_message(file, portal, match_bits, ignore_bits).text; !is_described && !text.empty())
    return text;
  if (!is_envelope(file, portal)) {
    return ignore_bits == 0 ? fmt::format("bits 0x{:x}", match_bits)
                            : fmt::format("bits 0x{:x} (ignoring 0x{:x})", match_bits, ignore_bits);
  }
  // Only the catch-alls ignore the context.
  if ((ignore_bits & kContextMask) == kContextMask) {
    return (match_bits & 4U) != 0 ? "any long message" : "any message that is short";
  }
  // An ignored bit may have any value, so it does not turn a receive into the wait for an answer.
  if (is_reply(match_bits & ~ignore_bits)) return bits(file, portal, match_bits, time_ns);
  const EnvelopeBits is = split_envelope(match_bits);
  const std::string tag = (ignore_bits & kTagMask) == kTagMask ? "any tag" : this->tag(file, match_bits, time_ns, true);
  const std::string source = (ignore_bits & kSourceMask) == kSourceMask ? "any source" : fmt::format("{}", is.source);
  return fmt::format("{} from {} in {}", tag, source, communicator(file, is.context, time_ns));
}

std::string TraceNames::about_send(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits) const {
  if (!is_envelope(file, mpi_adi::kReceivePortal)) return "";
  const std::uint64_t request = match_bits >> 32U;
  if (portal == mpi_adi::kAcknowledgmentPortal) return fmt::format("the answer to send request {}", request);
  if (portal == mpi_adi::kReadPortal) return fmt::format("the body of send request {}", request);
  if (portal != mpi_adi::kCancelPortal) return "";
  return match_bits == 0 ? "in place of a cancelled message" : fmt::format("the cancel of send request {}", request);
}

std::string TraceNames::about_window(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                     std::uint64_t time_ns) const {
  if (portal == mpi_adi::kReceivePortal || is_of_library(file, portal) || !is_envelope(file, mpi_adi::kReceivePortal)) {
    return "";
  }
  const auto number = static_cast<std::uint32_t>(match_bits >> 32U);
  if (is_of_window(portal, match_bits))
    return fmt::format("{} of {}", window_request(match_bits).text, window(file, number, time_ns));
  return static_cast<std::uint32_t>(match_bits) == mpi_adi::kPiecesTag ? fmt::format("the described body {}", number)
                                                                       : "";
}

// The field in which a collective message differs, most significant first: communicator, call, round, sender.
std::string TraceNames::collective_mismatch(std::uint32_t file, std::uint64_t match_bits, std::uint64_t time_ns,
                                            const MessageBits& message, bool any_rank) const {
  const std::uint64_t differ = match_bits ^ message.bits;
  const EnvelopeBits want = split_envelope(match_bits);
  const EnvelopeBits has = split_envelope(message.bits);
  if ((differ & kContextMask) != 0) {
    return fmt::format("it accepts {}, and the message is of {}", communicator_of_calls(file, want.context, time_ns),
                       communicator_of_calls(message.file, has.context, message.time_ns));
  }
  if ((differ & kTagMask) != 0) {
    return fmt::format("it accepts {}, and the message is of {}", collective_call_text(want.context, want.tag),
                       collective_call_text(has.context, has.tag));
  }
  if ((differ & kTypeMask) != 0) {
    return fmt::format("it accepts round {} of the call, and the message is of round {}", want.type + 1, has.type + 1);
  }
  // The source field of a row of a table has the row's length; that of any other collective message has its sender.
  if (any_rank)
    return fmt::format("it accepts a row of {}, and the message does not have that form",
                       sim::counted(want.source, "byte"));
  return fmt::format("it accepts the message of rank {} in {}, and this is another one", want.source,
                     communicator_of_calls(file, want.context, time_ns));
}

// Reports only the most significant field that differs: a message of another communicator usually differs in other
// fields, too, which would only distract.
std::string TraceNames::mismatch(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                 std::uint64_t ignore_bits, std::uint64_t time_ns, const MessageBits& message,
                                 bool any_rank) const {
  const std::uint64_t differ = (match_bits ^ message.bits) & ~ignore_bits;
  if (is_collective(file, portal) && ignore_bits == 0) {
    return collective_mismatch(file, match_bits, time_ns, message, any_rank);
  }
  if (const std::string wants = about_send(file, portal, match_bits); !wants.empty()) {
    return (differ & kTagMask) == 0
               ? fmt::format("it accepts {}, and the message is of another use of that request", wants)
               : fmt::format("it accepts {}, and the message is {}", wants, about_send(file, portal, message.bits));
  }
  if (const std::string wants = about_window(file, portal, match_bits, time_ns); differ != 0 && !wants.empty()) {
    const std::string is = about_window(message.file, portal, message.bits, message.time_ns);
    if (!is.empty()) {
      return wants == is ? fmt::format("it accepts {}, and the message is of another window of that name", wants)
                         : fmt::format("it accepts {}, and the message is {}", wants, is);
    }
  }
  if (const std::string is = library_message(message.file, portal, message.bits).text; differ != 0 && !is.empty()) {
    return fmt::format("it accepts {}, and the message is {}", wanted(file, portal, match_bits, ignore_bits, time_ns),
                       is);
  }
  // A program's own bits have no fields to compare.
  if (!is_envelope(file, portal) || is_reply(match_bits & ~ignore_bits) || is_reply(message.bits)) {
    if (differ == 0) return "the match bits fit";
    return fmt::format("it accepts {}, and 0x{:x} differ", wanted(file, portal, match_bits, ignore_bits, time_ns),
                       differ);
  }
  const EnvelopeBits want = split_envelope(match_bits);
  const EnvelopeBits has = split_envelope(message.bits);
  if ((differ & kContextMask) != 0) {
    // Two communicators may have one name.
    const std::string wanted_one = communicator(file, want.context, time_ns);
    const std::string its = communicator(message.file, has.context, message.time_ns);
    return wanted_one == its
               ? fmt::format("it accepts {}, and the message is of another communicator of that name", its)
               : fmt::format("it accepts {}, and the message is of {}", wanted_one, its);
  }
  if ((differ & kTagMask) != 0) {
    return fmt::format("it accepts {}, and the message has {}", tag_text(want.tag), tag_text(has.tag));
  }
  if ((differ & kSourceMask) != 0) {
    return fmt::format("it accepts source {}, and the message is from {}", want.source, has.source);
  }
  // A ready message needs an entry that accepts its type bit.
  const bool ready_unwanted = (has.type & kReadyType & ~want.type) != 0;
  if (ready_unwanted) return "it takes no ready message, and the message is ready";
  return fmt::format("it accepts {}", wanted(file, portal, match_bits, ignore_bits, time_ns));
}

std::string TraceNames::split(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits) const {
  if (!is_envelope(file, portal) || is_reply(match_bits)) return "";
  const EnvelopeBits is = split_envelope(match_bits);
  const std::string_view text = type_text(is.type);
  return fmt::format("{}, source {}, context {}, type {}", tag_text(is.tag), is.source, is.context,
                     text.empty() ? "short" : text.substr(2));
}

std::string TraceNames::wire(std::uint8_t wire) const {
  return wire_name_ != nullptr ? std::string(wire_name_(wire)) : fmt::format("wire {}", wire);
}

// A linear search: a process has few modules, and callers cache the lines.
const sim::Definition* TraceNames::module(std::uint32_t file, std::uint64_t address) const {
  for (const sim::Definition& each : trace_.files[file].definitions) {
    if (each.kind == sim::DefinitionKind::module && address >= each.number && address - each.number < each.value) {
      return &each;
    }
  }
  return nullptr;
}

}  // namespace margay::command
