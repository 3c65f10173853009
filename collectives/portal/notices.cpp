#include "collectives/portal/notices.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi_adi/device/match_bits.hpp"
#include "portals/base/assert.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;

namespace {

// Room for notices of one round of progress, which drains them.
constexpr std::size_t kNoticeHeapBytes = std::size_t{16} << 20;
constexpr std::size_t kBucketsAtFirst = 256;
// A list of transmissions is not swept again below this length.
constexpr std::size_t kSweepAtLeast = 16;

// Generations of freed communicators remembered for each context. A notice of an older one stays among the early ones.
constexpr std::size_t kPastKept = 8;
// The sender's rank in a notice of a call whose communicator may be gone.
constexpr int kUnnamed = 0xffff;

// A flag beside the operation. In an offer: the receiver is to repeat its "ready". In a "ready": this is a repetition.
constexpr std::byte kAgain{0x80};
constexpr std::size_t kRootAt = 2;
constexpr std::size_t kBytesAt = 4;

CallNumber number_of(const portals::Header& header) {
  return CallNumber::of_message(static_cast<std::uint32_t>(mpi_adi::tag_of(header.match_bits)));
}

std::uint64_t key_of(mpi_adi::ContextId context, std::uint32_t channel) {
  return std::uint64_t{context} << CallNumber::kChannelBits | channel;
}

NoticeKind kind_of(const portals::Header& header) {
  return static_cast<NoticeKind>(header.match_bits & mpi_adi::kTypeMask);
}

bool is_again(const portals::Header& header) {
  return (header.user_data[0] & kAgain) != std::byte{0};
}

bool is_ready(NoticeKind kind) {
  return kind == NoticeKind::ready || kind == NoticeKind::ready_next_phase;
}

// The key under which an early notice is kept. For a persistent call it omits the number of the start, because close()
// searches for the notices of all starts.
portals::MatchBits line_of(portals::MatchBits key) {
  constexpr portals::MatchBits kStart = ((portals::MatchBits{1} << CallNumber::kStartBits) - 1) << mpi_adi::kTagShift;
  const auto number = CallNumber::of_message(static_cast<std::uint32_t>(mpi_adi::tag_of(key)));
  return number.is_persistent() ? key & ~kStart : key;
}

portals::Header notice(CallNumber number, int sender, mpi_adi::ContextId context, std::uint64_t generation,
                       NoticeKind kind) {
  portals::Header header;
  header.portal = mpi_adi::kCollectiveReadyPortal;
  header.match_bits =
      mpi_adi::envelope_bits(static_cast<int>(number.word()), sender, context, static_cast<portals::MatchBits>(kind));
  header.offset = generation;
  return header;
}

// The sender's rank in the communicator; negative: no member. The notice contains the rank, unless the call was
// complete on the sender; then the sender's rank in the world determines it.
int member_of(const portals::Header& header, const Communicator& communicator) {
  // The rank in the notice counts only if it fits the sender that the kernel reports.
  const int named = mpi_adi::source_of(header.match_bits);
  const std::uint32_t sender = header.source.rank;
  if (named < communicator.size() && communicator.world_rank(named) == sender) [[likely]]
    return named;
  int member = communicator.size() - 1;
  while (member >= 0 && communicator.world_rank(member) != sender) --member;
  return member;
}

}  // namespace

void write_shape(portals::UserData& data, const Shape& shape) {
  data[0] = std::byte{shape.operation};
  data[1] = std::byte{shape.algorithm};
  std::memcpy(&data[kRootAt], &shape.root, sizeof shape.root);
  std::memcpy(&data[kBytesAt], &shape.bytes, sizeof shape.bytes);
}

Shape read_shape(const portals::UserData& data) {
  Shape shape;
  shape.operation = std::to_integer<std::uint8_t>(data[0] & ~kAgain);
  shape.algorithm = std::to_integer<std::uint8_t>(data[1]);
  std::memcpy(&shape.root, &data[kRootAt], sizeof shape.root);
  std::memcpy(&shape.bytes, &data[kBytesAt], sizeof shape.bytes);
  return shape;
}

Notices::Notices(Host& host, std::size_t early_max)
    : host_(host),
      memory_(kNoticeHeapBytes),
      block_(memory_.buffer()),
      active_(std::make_unique<CallState*[]>(kBucketsAtFirst)),
      buckets_mask_(kBucketsAtFirst - 1),
      early_max_(early_max) {
  block_.set_owner_tag(static_cast<mpi_adi::Listener*>(this), mpi_adi::kOwnerListener);
  catch_all_.set({.match_bits = 0, .ignore_bits = ~portals::MatchBits{0}}, block_, {.save = portals::Save::header});
  list_.append(catch_all_);
  sim::Kernel& kernel = host_.kernel();
  const bool attached = kernel.table().attach(mpi_adi::kCollectiveReadyPortal, list_).ok();
  MARGAY_ASSERT(attached);
  kernel.target().hold_when_no_room(mpi_adi::kCollectiveReadyPortal);
}

Notices::~Notices() {
  host_.kernel().table().detach(mpi_adi::kCollectiveReadyPortal);
  list_.remove(catch_all_);
}

// Unlinks in constant time: `link` points to whichever pointer leads to this call.
void Notices::end(CallState& call) {
  *call.link = call.next;
  if (call.next != nullptr) call.next->link = call.link;
  if (call.task != nullptr) --nonblocking_;
}

void Notices::grow() {
  const std::size_t count = buckets_mask_ + 1;
  const std::unique_ptr<CallState*[]> before = std::exchange(active_, std::make_unique<CallState*[]>(2 * count));
  buckets_mask_ = 2 * count - 1;
  for (std::size_t at = 0; at < count; ++at) {
    for (CallState* call = before[at]; call != nullptr;) {
      CallState* const next = call->next;
      CallState*& first = bucket(call_key(*call));
      call->next = first;
      call->link = &first;
      if (first != nullptr) first->link = &call->next;
      first = call;
      call = next;
    }
  }
}

// Several calls can have one key: communicators of different generations in one context.
void Notices::wake(CallKey key) {
  for (CallState* call = bucket(key); call != nullptr; call = call->next) {
    if (call->task != nullptr && call_key(*call) == key) call->task->wake();
  }
}

void Notices::meet(const Communicator& communicator) {
  Known& known = known_[communicator.collective_context];
  // The address is not enough: a new communicator may lie where a freed one did.
  if (known.communicator == &communicator && known.generation == communicator.generation) return;
  known.communicator = &communicator;
  known.generation = communicator.generation;
  deliver_early(known);
}

// The bitmap of free channels is the same on all members, so all skip the same channels.
bool Notices::open(Channel& channel) {
  Communicator& communicator = channel.communicator;
  meet(communicator);
  std::uint64_t& next = communicator.next_channel;
  while (next / CallNumber::kChannelsAtOnce <= communicator.channel_agreements) {
    channel.number = next++;
    const std::uint64_t at = channel.number % CallNumber::kChannelsAtOnce;
    const auto& free = communicator.free_channels;
    if (!free.empty() && (free[at / 64] >> at % 64 & 1) == 0) continue;
    const std::uint64_t key = key_of(communicator.collective_context, CallNumber::channel_of(channel.number));
    // Fails if another persistent call of this process has the channel.
    if (channels_.try_emplace(key, &channel).second) return true;
  }
  return false;
}

std::vector<std::uint64_t> Notices::free_channels(const Communicator& communicator) const {
  std::vector<std::uint64_t> free(CallNumber::kChannelsAtOnce / 64, ~std::uint64_t{0});
  const std::uint64_t first = (communicator.channel_agreements + 1) * CallNumber::kChannelsAtOnce;
  for (std::uint64_t at = 0; at < CallNumber::kChannelsAtOnce; ++at) {
    const std::uint64_t key = key_of(communicator.collective_context, CallNumber::channel_of(first + at));
    if (channels_.contains(key)) free[at / 64] &= ~(std::uint64_t{1} << at % 64);
  }
  return free;
}

void Notices::agreed_on_channels(Communicator& communicator, std::vector<std::uint64_t> free) {
  ++communicator.channel_agreements;
  communicator.free_channels = std::move(free);
}

void Notices::close(const Channel& channel) {
  const auto found =
      channels_.find(key_of(channel.communicator.collective_context, CallNumber::channel_of(channel.number)));
  // Another call owns the channel: open() did not succeed for this call.
  if (found->second != &channel) return;
  channels_.erase(found);
  if (early_ != 0) deliver_early(channel.communicator, CallNumber::started(channel.number, 0));
}

// An intercommunicator's calls are made on the communicator of both groups.
void Notices::discard(const Communicator& communicator) {
  const Communicator& all = communicator.both != nullptr ? *communicator.both : communicator;
  Known& known = known_[all.collective_context];
  known.communicator = nullptr;
  known.past.push_back(all.generation);
  if (known.past.size() > kPastKept) known.past.erase(known.past.begin());
  deliver_early(known);
}

void Notices::send(const CallState& call, int member, NoticeKind kind, portals::PortalIndex stream, bool again) {
  const Communicator& communicator = call.communicator;
  portals::Header header =
      notice(call.number, communicator.rank(), communicator.collective_context, communicator.generation, kind);
  header.destination = {0, communicator.world_rank(member)};
  header.return_portal = stream;
  write_shape(header.user_data, call.shape);
  if (again) header.user_data[0] |= kAgain;
  transmit(header);
}

// Sends at most once for each call, so members do not notify each other without end.
void Notices::find_wrong(CallState& call) {
  if (call.wrong) return;
  call.wrong = true;
  for (int member = 0; member < call.communicator.size(); ++member) {
    if (member != call.communicator.rank()) send(call, member, NoticeKind::wrong);
  }
}

void Notices::notify() {
  while (portals::ArrivedMessage* const message = block_.first()) {
    const portals::Header header = message->header;
    block_.release(*message);
    if (!deliver(header)) keep_early(header);
  }
}

void Notices::keep_early(const portals::Header& header) {
  const NoticeKind kind = kind_of(header);
  if (early_ >= early_max_ && (is_ready(kind) || kind == NoticeKind::offer)) {
    ++dropped_;
    return;
  }
  known_[mpi_adi::context_of(header.match_bits)].early.emplace(line_of(call_key(header)), header);
  ++early_;
}

void Notices::deliver_early(const Communicator& communicator, CallNumber number) {
  const auto known = known_.find(communicator.collective_context);
  if (known == known_.end()) return;
  auto& early = known->second.early;
  const CallKey key = mpi_adi::envelope_bits(static_cast<int>(number.word()), 0, communicator.collective_context);
  const auto [first, last] = early.equal_range(line_of(key));
  for (auto at = first; at != last;) {
    if (deliver(at->second)) {
      at = early.erase(at);
      --early_;
    } else {
      ++at;
    }
  }
}

void Notices::deliver_early(Known& known) {
  early_ -= std::erase_if(known.early, [this](const auto& early) { return deliver(early.second); });
}

bool Notices::deliver(const portals::Header& header) {
  const CallKey key = call_key(header);
  for (CallState* call = bucket(key); call != nullptr; call = call->next) {
    if (call_key(*call) != key || call->communicator.generation != header.offset) continue;
    // A nonblocking call behind a gate has no shape yet, so the notice cannot be compared with it.
    if (!call->begun) return false;
    deliver_to_call(*call, header);
    if (call->task != nullptr) call->task->wake();
    return true;
  }
  const auto found = known_.find(mpi_adi::context_of(header.match_bits));
  if (found == known_.end()) return false;
  const Known& known = found->second;
  if (known.communicator == nullptr) {
    // If the generation is not a past one, the notice belongs to a newer communicator, which this process is about to
    // make.
    if (std::ranges::find(known.past, header.offset) == known.past.end()) return false;
  } else if (header.offset == known.generation) {
    if (is_yet_to_begin(number_of(header), *known.communicator)) return false;
  }
  // While a communicator exists here, no member has a newer one in its contexts, so any other notice belongs to an
  // older one.
  answer_past(header);
  return true;
}

bool Notices::is_yet_to_begin(CallNumber number, const Communicator& communicator) const {
  if (!number.is_persistent()) return number.comes_after_calls(communicator.collective_sequence);
  const auto found = channels_.find(key_of(communicator.collective_context, number.channel()));
  if (found != channels_.end()) return number.comes_after_starts(found->second->starts);
  return number.comes_after_channels(communicator.next_channel);
}

void Notices::deliver_to_call(CallState& call, const portals::Header& header) {
  const int member = member_of(header, call.communicator);
  if (member < 0) return;
  const NoticeKind kind = kind_of(header);
  const bool fits = read_shape(header.user_data) == call.shape;
  switch (kind) {
    case NoticeKind::ready:
    case NoticeKind::ready_next_phase:
      if (is_again(header) && call.has_notice(member, kind)) return;
      if (fits) return call.notice_records.push_back({member, kind, header.return_portal});
      find_wrong(call);
      return send(call, member, NoticeKind::refuse);
    case NoticeKind::offer:
      if (!fits) find_wrong(call);
      if (is_again(header)) repeat_ready(call, member);
      return call.notice_records.push_back({member, kind});
    case NoticeKind::past:
      if (!call.has_notice(member, NoticeKind::ready) && !call.has_notice(member, NoticeKind::ready_next_phase))
        find_wrong(call);
      return;
    case NoticeKind::unserved:
      // A member that has refused was in this call; its `unserved` answers another notice.
      if (call.refuses(member)) return;
      call.notice_records.push_back({member, NoticeKind::refuse});
      return find_wrong(call);
    case NoticeKind::refuse:
    case NoticeKind::lost:
      return call.notice_records.push_back({member, kind});
    case NoticeKind::wrong:
      // The sender has notified all members; repeating that would only cost messages.
      call.wrong = true;
      return;
    case NoticeKind::asked:
    case NoticeKind::asked_next_phase:
      return;  // never sent
  }
}

void Notices::repeat_ready(const CallState& call, int member) {
  for (const CallState::NoticeRecord& each : call.notice_records) {
    if (each.member != member) continue;
    if (each.kind == NoticeKind::asked) send(call, member, NoticeKind::ready, each.portal, true);
    if (each.kind == NoticeKind::asked_next_phase) send(call, member, NoticeKind::ready_next_phase, each.portal, true);
  }
}

// Answers a notice of a call that is complete here, or whose communicator is freed. A "ready" that was not served gets
// `unserved`: its sender waits for a message that this process did not send, so the calls differ. A repeated "ready"
// gets no answer, because the first one may have been served. An offer gets `past`: if no "ready" of this process has
// reached the offer's sender by then, the calls differ (deliver_to_call()).
void Notices::answer_past(const portals::Header& header) {
  const NoticeKind kind = kind_of(header);
  if (kind != NoticeKind::offer && (!is_ready(kind) || is_again(header))) return;
  portals::Header answer = notice(number_of(header), kUnnamed, mpi_adi::context_of(header.match_bits), header.offset,
                                  kind == NoticeKind::offer ? NoticeKind::past : NoticeKind::unserved);
  answer.destination = header.source;
  transmit(answer);
}

void Notices::transmit(const portals::Header& header) {
  sim::Kernel& kernel = host_.kernel();
  if (kernel.try_send(header, {})) return;
  if (transmissions_.size() >= sweep_at_) {
    std::erase_if(transmissions_, [](const sim::Transmission& transmission) { return transmission.given_back; });
    sweep_at_ = 2 * transmissions_.size() + kSweepAtLeast;
  }
  sim::Transmission& transmission = transmissions_.emplace_back();
  transmission.header = header;
  transmission.owner_tag_kind = mpi_adi::kOwnerOthers;
  kernel.send(transmission);
}

}  // namespace margay::collectives
