#include "libraries/zipcode/post.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

namespace {

constexpr std::size_t kSystemHeapBytes = std::size_t{8} << 20;
// Class Y, whose PO Box is a short tag.
constexpr std::uint16_t kSystemClass = 1;
constexpr std::size_t kTagBytes = sizeof(std::uint16_t);

// Where a long letter lies, in the offset of its notice: 40 bits of length above the number and the way.
[[nodiscard]] constexpr std::uint64_t place_word(std::uint32_t number, std::size_t bytes) {
  return std::uint64_t{bytes} << 24 | number;
}
[[nodiscard]] constexpr std::uint32_t number_in(std::uint64_t word) {
  return static_cast<std::uint32_t>(word) & ((1U << parts::kBodyNumberBits) - 1);
}
[[nodiscard]] constexpr std::size_t bytes_in(std::uint64_t word) {
  return static_cast<std::size_t>(word >> 24);
}

[[nodiscard]] bool is_notice(const portals::Header& header) {
  return (header.match_bits & kAnyKind) == letter_bits(0, 0, Kind::notice, 0);
}

// Whether a notice has the length of a long letter, which is an int of the program's and an envelope.
[[nodiscard]] bool is_long_length(const portals::Header& header) {
  const std::size_t bytes = bytes_in(header.offset);
  return bytes > kShortMost && bytes <= std::size_t{std::numeric_limits<int>::max()} + stamp_of(kBoxMost);
}

[[nodiscard]] portals::Criteria criteria_of(const Wanted& wanted) {
  return {.match_bits = letter_bits(wanted.context, wanted.mail_class, Kind::letter, wanted.bits & ~wanted.ignore_bits),
          .ignore_bits = kAnyKind | wanted.ignore_bits,
          .source_rank = wanted.source};
}

// Whether the PO Box of a letter is the wanted one: match bits may be those of another PO Box with the same hash.
[[nodiscard]] bool box_fits(Bytes letter, const Wanted& wanted) {
  if (wanted.is_any_box || letter.size() < stamp_of(wanted.box_bytes)) return true;  // refused later, if damaged
  return std::ranges::equal(box_of(letter.data(), wanted.box_bytes), wanted.box);
}

[[nodiscard]] Bytes body_of(const portals::ArrivedMessage& message) {
  return {message.body.base, message.body.bytes};
}

}  // namespace

Post::Post(host::Rank& rank)
    : rank_(rank),
      heap_memory_(parts::allocate(kHeapBytes)),
      system_memory_(parts::allocate(kSystemHeapBytes)),
      heap_(portals::Buffer{heap_memory_.get(), kHeapBytes}),
      system_(portals::Buffer{system_memory_.get(), kSystemHeapBytes}),
      system_entry_({.match_bits = letter_bits(kSystemContext, 0, Kind::letter, 0), .ignore_bits = kBelowContext},
                    system_, {}),
      letters_entry_({.ignore_bits = ~portals::MatchBits{0}}, heap_, {}),
      bodies_(rank, kLongPortal, kFetchPortal),
      sent_(rank.places()) {
  // A letter that does not fit into the first heap must not go to the second one.
  list_.append(system_entry_);
  list_.append(letters_entry_);
}

Post::~Post() {
  if (!is_attached_) return;
  rank_.observe_losses(losses_, false);
  rank_.detach(kLetterPortal);
}

portals::Status Post::attach(host::Observer& system) {
  if (portals::Status status = bodies_.attach(); !status.ok()) return status;
  if (portals::Status status = rank_.attach(kLetterPortal, list_); !status.ok()) return status;
  is_attached_ = true;
  rank_.name_entry(kLetterPortal, system_entry_, "letters of Zipcode itself");
  rank_.name_entry(kLetterPortal, letters_entry_, "letters");
  rank_.observe(heap_, this);
  rank_.observe(system_, &system);
  rank_.hold_when_no_room(kLetterPortal);
  rank_.observe_losses(losses_, true);
  return {};
}

// --- Letters out. ---

Letter Post::make(std::uint16_t context, std::uint16_t mail_class, std::size_t box_bytes, std::size_t length) {
  Letter letter;
  letter.stamp = stamp_of(box_bytes);
  letter.bytes = letter.stamp + length;
  letter.memory = parts::allocate(letter.bytes);
  letter.envelope = letter.memory.get();
  letter.context = context;
  letter.mail_class = mail_class;
  write_envelope(letter.envelope, context, mail_class, letter.stamp);
  return letter;
}

void Post::send(Letter letter, const Address& address) {
  sweep();
  if (!address.box.empty()) std::memcpy(letter.envelope + kBoxAt, address.box.data(), address.box.size());
  portals::Header header;
  header.portal = kLetterPortal;
  header.destination = {0, address.rank};
  if (letter.context != kSystemContext) {
    ++sent_[address.rank];
    ++rank_.counter(kSent);
  } else {
    ++rank_.counter(kSystem);
  }
  const host::Event event{.number = kPosts,
                          .peer = address.rank,
                          .bytes = letter.length(),
                          .a = letter.context,
                          .b = letter.mail_class,
                          .of_sent = true};
  if (letter.bytes > kShortMost && letter.context != kSystemContext) {
    send_notice(std::move(letter), header, address);
  } else {
    header.match_bits = letter_bits(letter.context, letter.mail_class, Kind::letter, address.bits);
    const std::size_t bytes = letter.bytes;
    dispatch(std::move(letter), header, bytes);
  }
  if (rank_.recording() && event.a != kSystemContext) rank_.record(event);
}

bool Post::try_send(const Heading& heading, const portals::Region& letter, const Address& address) {
  sweep();
  portals::Header header;
  header.portal = kLetterPortal;
  header.destination = {0, address.rank};
  header.match_bits = letter_bits(heading.context, heading.mail_class, Kind::letter, address.bits);
  if (!rank_.try_send(header, letter)) return false;
  ++sent_[address.rank];
  ++rank_.counter(kSent);
  if (rank_.recording()) {
    rank_.record({.number = kPosts,
                  .peer = address.rank,
                  .bytes = letter.bytes() - heading.stamp,
                  .a = heading.context,
                  .b = heading.mail_class,
                  .of_sent = true});
  }
  return true;
}

void Post::send_notice(Letter letter, portals::Header& header, const Address& address) {
  ++rank_.counter(kLong);
  Letter notice = make(letter.context, letter.mail_class, address.box.size(), 0);
  std::memcpy(notice.envelope, letter.envelope, letter.stamp);
  if (letter.in_heap != nullptr) {  // not the case for a letter this long, unless a sender ignores the limit
    parts::Memory copy = parts::allocate(letter.bytes);
    std::memcpy(copy.get(), letter.envelope, letter.bytes);
    letter.in_heap.reset();
    letter.memory = std::move(copy);
  }
  const std::uint32_t number = bodies_.offer(address.rank, 0, std::move(letter.memory), letter.bytes);
  header.match_bits = letter_bits(notice.context, notice.mail_class, Kind::notice, address.bits);
  header.offset = place_word(number, letter.bytes);
  const std::size_t bytes = notice.stamp;
  dispatch(std::move(notice), header, bytes);
}

void Post::dispatch(Letter letter, const portals::Header& header, std::size_t bytes) {
  const portals::Region body(letter.envelope, bytes);
  if (rank_.try_send(header, body)) return;
  Parcel& parcel = parcels_.add(header.destination.rank);
  parcel.letter = std::move(letter);
  parcel.message.header = header;
  parcel.message.body = body;
  rank_.send(parcel.message);
}

void ReleaseInHeap::operator()(portals::ArrivedMessage* message) const {
  post->kept_bytes_ -= message->body.bytes;
  post->heap_.release(*message);
}

void Post::sweep() {
  bodies_.sweep();
  parcels_.sweep([this](const Parcel& parcel) { return rank_.state(parcel.message) != host::SendState::queued; });
  for (auto at = pulls_.begin(); at != pulls_.end();) {
    const auto next = std::next(at);
    if (at->is_unwanted && (at->fetch->done() || rank_.lost(at->header.source.rank))) {
      bodies_.end(*at->fetch);
      pulls_.erase(at);
    }
    at = next;
  }
}

// --- Letters in. ---

portals::ArrivedMessage* Post::find_in_heap(const Wanted& wanted) {
  const portals::Criteria criteria = criteria_of(wanted);
  portals::ArrivedMessage* message = heap_.find(criteria);
  // An earlier letter that is still arriving must not be overtaken.
  while (message != nullptr && message->complete && !box_fits(body_of(*message), wanted)) {
    do {
      message = heap_.next(*message);
    } while (message != nullptr && !criteria.accepts(message->header));
  }
  return message;
}

// The earliest one of the three places.
Post::Found Post::find(const Wanted& wanted) {
  Found found;
  const portals::Criteria criteria = criteria_of(wanted);
  for (auto at = pulls_.begin(); at != pulls_.end(); ++at) {
    if (at->is_unwanted || at->arrival >= found.arrival || !criteria.accepts(at->header) ||
        !box_fits(at->envelope, wanted))
      continue;
    found.place = Found::Place::pull;
    found.arrival = at->arrival;
    found.pull = at;
  }
  const auto moved = moved_.find(wanted.context, wanted.source, [&](const Moved& each) {
    return criteria.accepts(each.header) && box_fits({each.memory.get(), each.bytes}, wanted);
  });
  if (moved.has_value() && moved->item->arrival < found.arrival) {
    found.place = Found::Place::moved;
    found.arrival = moved->item->arrival;
    found.moved = *moved;
  }
  portals::ArrivedMessage* const message = find_in_heap(wanted);
  if (message != nullptr && message->arrival < found.arrival) {
    found.place = Found::Place::heap;
    found.arrival = message->arrival;
    found.in_heap = message;
  }
  return found;
}

std::optional<Letter> Post::take(const Wanted& wanted) {
  for (;;) {
    Found found = find(wanted);
    if (found.place == Found::Place::none) return {};
    if (found.place == Found::Place::pull) {
      if (!found.pull->fetch->done()) return {};
      std::optional<Letter> letter = finish(found.pull, wanted);
      if (letter.has_value()) return letter;
      continue;
    }
    const bool is_in_heap = found.place == Found::Place::heap;
    if (is_in_heap && !found.in_heap->complete) return {};
    const portals::Header header = is_in_heap ? found.in_heap->header : found.moved.item->header;
    const Bytes bytes =
        is_in_heap ? body_of(*found.in_heap) : Bytes{found.moved.item->memory.get(), found.moved.item->bytes};
    const bool is_long = is_notice(header);
    bool is_damaged = !envelope_error(bytes, wanted.context, wanted.mail_class, wanted.box_bytes).empty();
    if (is_long) is_damaged = is_damaged || bytes.size() != stamp_of(wanted.box_bytes) || !is_long_length(header);
    if (!is_damaged && !is_long) return take_short(header, wanted, found);
    if (is_damaged) {
      refuse(header);
    } else {
      start_pull(header, found.arrival, bytes, false);
    }
    if (is_in_heap) {
      heap_.release(*found.in_heap);
    } else {
      moved_bytes_ -= found.moved.item->bytes;
      moved_.erase(found.moved);
    }
  }
}

Letter Post::take_short(const portals::Header& header, const Wanted& wanted, Found& found) {
  Letter letter;
  letter.context = wanted.context;
  letter.mail_class = wanted.mail_class;
  letter.stamp = stamp_of(wanted.box_bytes);
  letter.source = header.source.rank;
  if (found.place == Found::Place::moved) {
    letter.bytes = found.moved.item->bytes;
    letter.memory = std::move(found.moved.item->memory);
    moved_bytes_ -= letter.bytes;
    moved_.erase(found.moved);
  } else {
    portals::ArrivedMessage& message = *found.in_heap;
    letter.bytes = message.body.bytes;
    if (rank_.recording()) {
      rank_.record({.number = kTakes,
                    .peer = letter.source,
                    .bytes = letter.length(),
                    .a = letter.context,
                    .b = letter.mail_class,
                    .of_arrived = &message});
    }
    if (kept_bytes_ + letter.bytes <= kKeptMost) {
      kept_bytes_ += letter.bytes;
      heap_.unlink(message);
      letter.in_heap = std::unique_ptr<portals::ArrivedMessage, ReleaseInHeap>(&message, {this});
      letter.envelope = message.body.base;
    } else {
      letter.memory = parts::allocate(letter.bytes);
      std::memcpy(letter.memory.get(), message.body.base, letter.bytes);
      heap_.release(message);
      ++rank_.counter(kMoved);
    }
  }
  if (letter.in_heap == nullptr) letter.envelope = letter.memory.get();
  end_letter(kReceived);
  return letter;
}

void Post::start_pull(const portals::Header& header, std::uint64_t arrival, Bytes envelope, bool is_unwanted) {
  portals::Header get;
  const std::size_t bytes = is_unwanted ? 0 : bytes_in(header.offset);
  const parts::BodyPlace place{number_in(header.offset), 0};
  parts::Fetch* fetch = bodies_.fetch(header.source.rank, place, bytes, get);
  if (fetch == nullptr) {  // a damaged notice may announce any length
    is_unwanted = true;
    fetch = bodies_.fetch(header.source.rank, place, 0, get);
    if (fetch == nullptr) return refuse(header);
  }
  pulls_.push_back({header, arrival, {envelope.begin(), envelope.end()}, fetch, bytes, is_unwanted});
  dispatch({}, get, 0);
}

std::optional<Letter> Post::finish(std::list<Pull>::iterator pull, const Wanted& wanted) {
  const bool is_whole = pull->fetch->arrived() == pull->bytes;
  Letter letter;
  letter.memory = std::move(pull->fetch->memory());
  letter.envelope = letter.memory.get();
  letter.bytes = pull->bytes;
  letter.context = wanted.context;
  letter.mail_class = wanted.mail_class;
  letter.stamp = stamp_of(wanted.box_bytes);
  letter.source = pull->header.source.rank;
  bodies_.end(*pull->fetch);
  // The letter's own envelope is the notice's, or one of both is damaged.
  const bool is_right = is_whole && std::equal(pull->envelope.begin(), pull->envelope.end(), letter.envelope);
  if (!is_right) refuse(pull->header);
  pulls_.erase(pull);
  if (!is_right) return {};
  end_letter(kReceived);
  if (rank_.recording()) {
    rank_.record({.number = kTakes,
                  .peer = letter.source,
                  .bytes = letter.length(),
                  .a = letter.context,
                  .b = letter.mail_class});
  }
  return letter;
}

void Post::end_letter(Count why) {
  ++ended_;
  ++rank_.counter(kEnded);
  ++rank_.counter(why);
}

void Post::refuse(const portals::Header& header) {
  end_letter(kDamaged);
  if (rank_.recording()) rank_.record({.number = kRefuses, .peer = header.source.rank, .bytes = header.length});
}

// A posted receive: an entry in front of the heap's own one and over the same heap, so that a trace shows which
// criteria an arriving letter has met.
class Post::Posted {
 public:
  Posted(Post& post, const Wanted& wanted) : post_(post), entry_(criteria_of(wanted), post.heap_, {}) {
    post_.list_.insert_before(post_.letters_entry_, entry_);
    post_.rank_.name_entry(kLetterPortal, entry_, "a receive");
  }
  ~Posted() { post_.list_.remove(entry_); }
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;

 private:
  Post& post_;
  portals::MatchEntry entry_;
};

std::string ended_text(portals::Rank rank) {
  return "rank " + std::to_string(rank) + " was ended by zip_kill()";
}

Letter Post::await(const char* call, const Wanted& wanted, const Group& members) {
  std::optional<Letter> letter = take(wanted);
  if (letter.has_value()) return std::move(*letter);
  const Posted posted(*this, wanted);
  const portals::Status status = host::wait_until(rank_, {.call = shown_name(call), .peer = wanted.source}, [&] {
    sweep();
    letter = take(wanted);
    return letter.has_value() || (wanted.source == portals::kAnyRank && is_alone(members));
  });
  if (letter.has_value()) return std::move(*letter);
  if (has_ended(wanted.source)) fail(ended_text(wanted.source));
  fail(status.ok() ? ended_text(find_ended(members)) : status.sentence());
}

void Post::send_system(portals::Rank rank, Tag tag, Bytes body) {
  Letter letter = make(kSystemContext, kSystemClass, kTagBytes, body.size());
  if (!body.empty()) std::memcpy(letter.body(), body.data(), body.size());
  const auto box = static_cast<std::uint16_t>(tag);
  send(std::move(letter), {rank, std::as_bytes(std::span(&box, 1)), box});
}

bool Post::take_system(Tag tag, const Accepts& accepts) {
  const auto bits = static_cast<std::uint16_t>(tag);
  const portals::Criteria criteria{.match_bits = letter_bits(kSystemContext, kSystemClass, Kind::letter, bits)};
  portals::ArrivedMessage* message = system_.find(criteria);
  while (message != nullptr) {
    portals::ArrivedMessage* const next = system_.next(*message);
    if (criteria.accepts(message->header)) {
      if (!message->complete) return false;
      const Bytes letter = body_of(*message);
      if (!envelope_error(letter, kSystemContext, kSystemClass, kTagBytes).empty()) {
        ++rank_.counter(kDamaged);
        system_.release(*message);
      } else if (accepts(message->header.source.rank, letter.subspan(stamp_of(kTagBytes)))) {
        system_.release(*message);
        return true;
      }
    }
    message = next;
  }
  return false;
}

void Post::await_system(const char* call, Tag tag, portals::Rank peer, const Accepts& accepts) {
  bool is_taken = false;
  const portals::Status status = host::wait_until(rank_, {.call = shown_name(call), .peer = peer}, [&] {
    sweep();
    is_taken = is_taken || take_system(tag, [&](portals::Rank source, Bytes body) {
                 return (peer == portals::kAnyRank || peer == source) && accepts(source, body);
               });
    return is_taken;
  });
  if (!is_taken) fail(status.sentence());
}

void Post::add_ended(portals::Rank place) {
  if (ended_places_.insert(place).second) rank_.note_end(place);
}

void Post::add_losses() {
  for (portals::Rank place = rank_.size(); place < rank_.places(); ++place) {
    if (rank_.lost(place)) ended_places_.insert(place);
  }
}

portals::Rank Post::find_ended(const Group& members) const {
  if (ended_places_.empty()) return portals::kAnyRank;
  const auto at = std::ranges::find_if(members, [this](const Member& each) { return has_ended(each.rank); });
  return at == members.end() ? portals::kAnyRank : at->rank;
}

bool Post::is_alone(const Group& members) const {
  return find_ended(members) != portals::kAnyRank && std::ranges::all_of(members, [this](const Member& each) {
           return each.rank == rank_.rank() || has_ended(each.rank);
         });
}

bool Post::is_idle() const {
  return parcels_.empty() && std::ranges::all_of(pulls_, [this](const Pull& each) {
           return each.fetch->done() || rank_.lost(each.header.source.rank);
         });
}

std::uint64_t Post::arrived() const {
  return heap_.arrivals();
}

namespace {

[[nodiscard]] bool is_between(const portals::Header& header, std::uint32_t first, std::uint32_t last) {
  const auto context = static_cast<std::uint32_t>(header.match_bits >> kContextShift);
  return context >= first && context < last && (context - first) % 2 == 0;
}

}  // namespace

std::uint64_t Post::count(std::uint32_t first, std::uint32_t last) {
  std::uint64_t found = 0;
  for (const portals::ArrivedMessage* each = heap_.first(); each != nullptr; each = heap_.next(*each)) {
    if (each->complete && is_between(each->header, first, last)) ++found;
  }
  moved_.for_each([&](const Moved& each) { found += is_between(each.header, first, last) ? 1 : 0; });
  for (const Pull& each : pulls_) found += !each.is_unwanted && is_between(each.header, first, last) ? 1 : 0;
  return found;
}

void Post::free_all(std::uint32_t first, std::uint32_t last) {
  for (portals::ArrivedMessage* each = heap_.first(); each != nullptr;) {
    portals::ArrivedMessage* const message = std::exchange(each, heap_.next(*each));
    if (!message->complete || !is_between(message->header, first, last)) continue;
    // The sender frees a long letter when it has been asked for.
    if (is_notice(message->header)) start_pull(message->header, message->arrival, {}, true);
    end_letter(kUnreceived);
    heap_.release(*message);
  }
  moved_.remove_if([&](const Moved& each) {
    if (!is_between(each.header, first, last)) return false;
    if (is_notice(each.header)) start_pull(each.header, each.arrival, {}, true);
    end_letter(kUnreceived);
    moved_bytes_ -= each.bytes;
    return true;
  });
  for (Pull& each : pulls_) {
    if (each.is_unwanted || !is_between(each.header, first, last)) continue;
    each.is_unwanted = true;
    end_letter(kUnreceived);
  }
}

void Post::free_arrived() {
  while (portals::ArrivedMessage* const message = heap_.first()) {
    end_letter(kUnreceived);
    heap_.release(*message);
  }
  moved_.remove_if([this](const Moved&) {
    end_letter(kUnreceived);
    return true;
  });
  for (const Pull& each : pulls_) {
    if (!each.is_unwanted) end_letter(kUnreceived);
    bodies_.end(*each.fetch);
  }
  pulls_.clear();
}

// Called in the round of progress in which a letter has arrived.
void Post::notify() {
  if (heap_.used_bytes() - kept_bytes_ > kQueuedMost) [[unlikely]]
    move_out();
}

void Post::move_out() {
  portals::ArrivedMessage* each = heap_.first();
  while (each != nullptr && heap_.used_bytes() - kept_bytes_ > kQueuedMost / 2 && moved_bytes_ < kMovedMost) {
    portals::ArrivedMessage* const message = std::exchange(each, heap_.next(*each));
    if (!message->complete) continue;
    const std::size_t bytes = message->body.bytes;
    parts::Memory memory;
    try {
      memory = parts::allocate(bytes);
    } catch (const std::bad_alloc&) {
      return;  // the heap then holds the senders
    }
    if (bytes != 0) std::memcpy(memory.get(), message->body.base, bytes);
    if (rank_.recording()) {
      rank_.record({.number = kMovesOut, .peer = message->header.source.rank, .bytes = bytes, .of_arrived = message});
    }
    const auto context = static_cast<std::uint16_t>(message->header.match_bits >> kContextShift);
    moved_.add(context, message->header.source.rank, {message->header, message->arrival, std::move(memory), bytes});
    moved_bytes_ += bytes;
    ++rank_.counter(kMoved);
    heap_.release(*message);
  }
}

}  // namespace margay::zipcode::core
