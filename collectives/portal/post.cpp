#include "collectives/portal/post.hpp"

#include <algorithm>

#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

// Layout of a mark: operation, root, a flag for postings of different lengths (Own), and, without this flag, the number
// of bytes in 31 bits.
constexpr unsigned kRootShift = 32;
constexpr unsigned kOperationShift = 48;
static_assert(kPostedBytes < std::uint64_t{1} << kRootShift);

}  // namespace

Post::Post(Collective& collective, Team& team, std::uint64_t bytes) : Shown(collective, team), bytes_(bytes) {
  MARGAY_ASSERT(bytes_ <= kPostedBytes && team_.has_strips());
}

Post::Post(Collective& collective, Team& team, Own own) : Post(collective, team, own.bytes) {
  own_ = true;
}

std::uint64_t Post::mark() const {
  constexpr std::uint64_t kOwn = std::uint64_t{1} << (kRootShift - 1);
  static_assert(kPostedBytes < kOwn);
  return (own_ ? kOwn : bytes_) | std::uint64_t{shape().root} << kRootShift |
         std::uint64_t{shape().operation} << kOperationShift;
}

// The data of a short posting lies in the posting's own line, so that a reader gets number and data in one cache miss.
// The data of a posting with a length of its own (Own) never does, because its readers do not have the length.
std::byte* Post::data_address(int member, std::uint32_t room) const {
  sim::PostingArea& area = team_.posting_area(member);
  if (room != 0) return area.long_data[(room - 1) % sim::kLongPostings];
  sim::PostingData& line = area.postings[slot()];
  return !own_ && bytes_ <= line.here.size() ? line.here.data() : area.data[slot()];
}

// Counts the bytes before it returns the memory, so that the caller writes the posting's line without other work in
// between. During such work a polling reader could take the cache line away.
std::byte* Post::mine() {
  count(bytes_);
  return data_address(collective_.rank(), room_);
}

const std::byte* Post::data(int member) const {
  record_read(member, bytes_);
  return data_address(member, posting(member).room);
}

std::span<const std::byte> Post::shown(int member) const {
  const std::uint32_t room = posting(member).room;
  return {data_address(member, room), room != 0 ? sim::kLongPostingBytes : sim::kPostingBytes};
}

// Reads, then checks that the owner has not left the call. An owner waits for its readers, unless it leaves because of
// an error; then the program may have changed the memory during the read.
bool Post::read(int member, const sim::ReadOffer& offer, const portals::Region& landing) {
  record_read(member, landing.bytes());
  const sim::ReadFault fault = team_.read(member, offer, landing);
  if (is_done(member)) [[unlikely]] {
    const bool lost = sim::has_failed(team_.posting_area(member).progress, number());
    fail(lost ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
    return false;
  }
  if (fault == sim::ReadFault::none) [[likely]]
    return true;
  fail(fault == sim::ReadFault::gone ? MPIX_ERR_PROC_FAILED : MPI_ERR_OTHER);
  return false;
}

bool Post::room_is_free() const {
  const PostingRooms& rooms = team_.rooms();
  // The calls that last used this posting and the long room. Both are free when all members are done with these calls.
  const std::uint64_t here = posting(collective_.rank()).number;
  const std::uint64_t there = is_long() ? rooms.long_calls[rooms.next_long] : 0;
  return std::max(here, there) <= rooms.all_done;
}

bool Post::has_room() {
  if (room_ != 0) return true;  // polled again after it was taken
  // The cached minimum spares reading all members' progress in each call.
  if (!room_is_free()) [[unlikely]] {
    std::uint64_t least = ~std::uint64_t{0};
    for (int member = 0; member < collective_.size(); ++member) {
      // This member itself is left out: it has finished its earlier calls, and reads none of its own postings.
      if (member != collective_.rank()) least = std::min(least, sim::done_with(team_.posting_area(member).progress));
    }
    team_.rooms().all_done = least;
    if (!room_is_free()) {
      // From now on members that finish a call wake this one.
      team_.request_progress();
      return gives_up();
    }
  }
  if (!is_long()) return true;
  PostingRooms& rooms = team_.rooms();
  room_ = rooms.next_long + 1;
  rooms.long_calls[rooms.next_long] = number();
  rooms.next_long = (rooms.next_long + 1) % sim::kLongPostings;
  return true;
}

// The conditions that end each wait: a lost process, or a notice of this call. Calls through shared memory send notices
// only when they fail.
bool Post::gives_up() {
  if (any_lost() || has_loss_notice()) {
    fail(MPIX_ERR_PROC_FAILED);
    return true;
  }
  if (!has_any_notice()) return false;
  fail_for_different_calls();
  return true;
}

bool Post::is_shown(int member) {
  sim::PostingData& line = posting(member);
  if (sim::posted(line, number())) [[likely]] {
    // The owner wrote the mark before the number, so it is this call's.
    if (line.mark != mark()) [[unlikely]]
      fail_for_different_calls();
    return true;
  }
  if (gives_up()) return true;
  if (!doubts()) return false;
  const bool over = is_done(member);
  // A member that is done with the call has posted before, or never will, so one more look decides.
  if (over && sim::posted(line, number())) return is_shown(member);
  // A member whose call has longer data waits at a barrier, or has sent a message.
  if (!over && !others_use_another_method()) return false;
  if (has_member_left_for_loss()) {
    fail(MPIX_ERR_PROC_FAILED);
  } else {
    fail_for_different_calls();
  }
  return true;
}

bool Post::are_shown(int& next) {
  for (; next < collective_.size() && collective_.error_class() == MPI_SUCCESS; ++next) {
    if (next != collective_.rank() && !is_shown(next)) return false;
  }
  return true;
}

bool Post::is_read_by(int member) {
  sim::ProgressData& progress = team_.posting_area(member).progress;
  const auto has_read = [&] { return sim::read_up_to(progress) >= number(); };
  if (has_read() || gives_up()) return true;
  const bool over = is_done(member);
  // The member publishes its reads before it is done with the call, so one more look decides.
  if (over && has_read()) return true;
  if (over) {
    fail(sim::has_failed(progress, number()) ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
    return true;
  }
  if (!doubts()) return false;
  if (has_read() || is_done(member)) return is_read_by(member);
  sim::PostingData& line = posting(member);
  // A posting with this call's number and another mark: the member makes a different call.
  const bool other = sim::posted(line, number()) && line.mark != mark();
  if (!other && !others_use_another_method()) return false;
  fail_for_different_calls();
  return true;
}

void Post::show() {
  sim::PostingData& line = posting(collective_.rank());
  line.mark = mark();
  line.room = room_;
  sim::post(line, number());
}

void Post::show_to_all() {
  show();
  team_.wake_others();
}

void Post::show_to(int member) {
  show();
  team_.wake(member);
}

}  // namespace margay::collectives
