#include "collectives/portal/notices.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "mpi_adi/device/portal_numbers.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;

namespace {

constexpr std::size_t kNoticeHeapBytes = std::size_t{16} << 20;
// A correct program has one for each peer, its threads and communicators. What is more stays in the heap, and then on
// the wire.
constexpr std::size_t kEarlyMax = std::size_t{1} << 16;

// Of freed communicators in a context. What is later than so many of them stays with the early ones.
constexpr std::size_t kPastKept = 8;
// Instead of a rank, where it is not known any more.
constexpr int kUnnamed = 0xffff;

constexpr std::size_t kRootAt = 2;
constexpr std::size_t kBytesAt = 4;

CallNumber number_of(const portals::Header& header) {
  return CallNumber::of_message(static_cast<std::uint32_t>(mpi_adi::tag_of(header.match_bits)));
}

std::uint64_t key_of(mpi_adi::ContextId context, std::uint32_t channel) {
  return std::uint64_t{context} << CallNumber::kChannelBits | channel;
}

Word word_of(const portals::Header& header) {
  return static_cast<Word>(header.match_bits & mpi_adi::kTypeMask);
}

portals::Header notice(CallNumber number, int sender, mpi_adi::ContextId context, std::uint64_t generation, Word word) {
  portals::Header header;
  header.portal = mpi_adi::kCollectiveReadyPortal;
  header.match_bits =
      mpi_adi::envelope_bits(static_cast<int>(number.word()), sender, context, static_cast<portals::MatchBits>(word));
  header.offset = generation;
  return header;
}

// Who sent it; negative: nobody of the communicator. It names itself, unless its part in that is over.
int member_of(const portals::Header& header, const Communicator& communicator) {
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
  shape.operation = std::to_integer<std::uint8_t>(data[0]);
  shape.algorithm = std::to_integer<std::uint8_t>(data[1]);
  std::memcpy(&shape.root, &data[kRootAt], sizeof shape.root);
  std::memcpy(&shape.bytes, &data[kBytesAt], sizeof shape.bytes);
  return shape;
}

Notices::Notices(Host& host) : host_(host), memory_(kNoticeHeapBytes), block_(memory_.buffer()) {
  block_.set_owner(static_cast<mpi_adi::Listener*>(this), mpi_adi::kOwnerListener);
  catch_all_.set({.match_bits = 0, .ignore_bits = ~portals::MatchBits{0}}, block_, {.save = portals::Save::header});
  list_.append(catch_all_);
  sim::Kernel& kernel = host_.kernel();
  const bool attached = kernel.table().attach(mpi_adi::kCollectiveReadyPortal, list_).ok();
  MARGAY_ASSERT(attached);
  kernel.hold_when_no_room(mpi_adi::kCollectiveReadyPortal);
}

Notices::~Notices() {
  host_.kernel().table().detach(mpi_adi::kCollectiveReadyPortal);
  list_.remove(catch_all_);
}

void Notices::end(CallState& call) {
  *call.link = call.next;
  if (call.next != nullptr) call.next->link = call.link;
  if (block_.queued() != 0) [[unlikely]]
    told();  // there may be room among the early ones
}

void Notices::meet(const Communicator& communicator) {
  Known& known = known_[communicator.collective_context];
  if (known.communicator == &communicator && known.generation == communicator.generation) return;
  known.communicator = &communicator;
  known.generation = communicator.generation;
  hear_early(communicator.collective_context);
}

bool Notices::open(Channel& channel) {
  Communicator& communicator = channel.communicator;
  meet(communicator);
  channel.number = communicator.persistent_collectives++;
  const std::uint64_t key = key_of(communicator.collective_context, CallNumber::channel_of(channel.number));
  return channels_.try_emplace(key, &channel).second;
}

void Notices::close(const Channel& channel) {
  const auto found =
      channels_.find(key_of(channel.communicator.collective_context, CallNumber::channel_of(channel.number)));
  if (found->second != &channel) return;
  channels_.erase(found);
  hear_early(channel.communicator.collective_context);
}

void Notices::forget(const Communicator& communicator) {
  const Communicator& all = communicator.both != nullptr ? *communicator.both : communicator;
  Known& known = known_[all.collective_context];
  known.communicator = nullptr;
  known.past.push_back(all.generation);
  if (known.past.size() > kPastKept) known.past.erase(known.past.begin());
  hear_early(all.collective_context);
}

void Notices::tell(const CallState& call, int member, Word word, portals::PortalIndex stream) {
  const Communicator& communicator = call.communicator;
  portals::Header header =
      notice(call.number, communicator.rank(), communicator.collective_context, communicator.generation, word);
  header.destination = {0, communicator.world_rank(member)};
  header.return_portal = stream;
  write_shape(header.user_data, call.shape);
  transmit(header);
}

void Notices::find_wrong(CallState& call) {
  if (call.wrong) return;
  call.wrong = true;
  for (int member = 0; member < call.communicator.size(); ++member) {
    if (member != call.communicator.rank()) tell(call, member, Word::wrong);
  }
}

void Notices::told() {
  while (early_.size() < kEarlyMax) {
    portals::ArrivedMessage* const message = block_.first();
    if (message == nullptr) return;
    const portals::Header header = message->header;
    block_.release(*message);
    if (!hear(header)) early_.emplace(call_key(header), header);
  }
}

void Notices::hear_early(const CallState& call) {
  const auto [first, last] = early_.equal_range(call_key(call));
  for (auto at = first; at != last;) at = hear(at->second) ? early_.erase(at) : std::next(at);
  if (block_.queued() != 0) told();  // there may be room among the early ones
}

void Notices::hear_early(mpi_adi::ContextId context) {
  std::erase_if(early_,
                [&](const auto& early) { return mpi_adi::context_of(early.first) == context && hear(early.second); });
}

bool Notices::hear(const portals::Header& header) {
  const CallKey key = call_key(header);
  for (CallState* call = bucket(key); call != nullptr; call = call->next) {
    if (call_key(*call) != key || call->communicator.generation != header.offset) continue;
    if (!call->begun) return false;
    hear_in_call(*call, header);
    if (call->task != nullptr) call->task->wake();
    return true;
  }
  const auto found = known_.find(mpi_adi::context_of(header.match_bits));
  if (found == known_.end()) return false;
  const Known& known = found->second;
  if (known.communicator == nullptr) {
    // Else it is a newer one's, which this process is about to make.
    if (std::ranges::find(known.past, header.offset) == known.past.end()) return false;
  } else if (header.offset == known.generation) {
    if (comes_yet(number_of(header), *known.communicator)) return false;
  }
  // While a communicator lives here, no member has a newer one in its contexts: what is not its own is an older one's.
  answer_past(header);
  return true;
}

bool Notices::comes_yet(CallNumber number, const Communicator& communicator) const {
  if (!number.is_persistent()) return number.comes_after_calls(communicator.collective_sequence);
  const auto found = channels_.find(key_of(communicator.collective_context, number.channel()));
  if (found != channels_.end()) return number.comes_after_starts(found->second->starts);
  return number.comes_after_channels(communicator.persistent_collectives);
}

void Notices::hear_in_call(CallState& call, const portals::Header& header) {
  const int member = member_of(header, call.communicator);
  if (member < 0) return;
  const Word word = word_of(header);
  const bool fits = read_shape(header.user_data) == call.shape;
  switch (word) {
    case Word::ready:
    case Word::ready_next_phase:
      if (fits) return call.said.push_back({member, word, header.return_portal});
      find_wrong(call);
      return tell(call, member, Word::refuse);
    case Word::offer:
      if (!fits) find_wrong(call);
      return call.said.push_back({member, word});
    case Word::past:
      if (!call.has_said(member, Word::ready) && !call.has_said(member, Word::ready_next_phase)) find_wrong(call);
      return;
    case Word::unserved:
      // Who said before that it sends nothing was in this call.
      if (call.refuses(member)) return;
      call.said.push_back({member, Word::refuse});
      return find_wrong(call);
    case Word::refuse:
    case Word::lost:
      return call.said.push_back({member, word});
    case Word::wrong:
      call.wrong = true;
      return;
  }
}

// The call is over here, or its communicator is gone. Who is ready for a message, and was not served, took the call for
// another one than this process did. Who offers one was asked for it meanwhile, or likewise.
void Notices::answer_past(const portals::Header& header) {
  const Word word = word_of(header);
  if (word != Word::ready && word != Word::ready_next_phase && word != Word::offer) return;
  portals::Header answer = notice(number_of(header), kUnnamed, mpi_adi::context_of(header.match_bits), header.offset,
                                  word == Word::offer ? Word::past : Word::unserved);
  answer.destination = header.source;
  transmit(answer);
}

void Notices::transmit(const portals::Header& header) {
  sim::Kernel& kernel = host_.kernel();
  if (kernel.try_send(header, {})) return;
  std::erase_if(under_way_, [](const sim::Transmission& transmission) { return transmission.given_back; });
  sim::Transmission& transmission = under_way_.emplace_back();
  transmission.header = header;
  transmission.owner_kind = mpi_adi::kOwnerOthers;
  kernel.send(transmission);
}

}  // namespace margay::collectives
