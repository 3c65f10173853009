#include "collectives/portal/post.hpp"

#include <algorithm>

#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

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

std::byte* Post::place(int member, std::uint32_t room) const {
  sim::PostingArea& area = team_.posting_area(member);
  if (room != 0) return area.long_data[(room - 1) % sim::kLongPostings];
  sim::PostingData& line = area.postings[slot()];
  return !own_ && bytes_ <= line.here.size() ? line.here.data() : area.data[slot()];
}

// What else there is to do is done before: the line is written in one go, or who polls it takes it away in between.
std::byte* Post::mine() {
  count(bytes_);
  return place(collective_.rank(), room_);
}

const std::byte* Post::data(int member) const {
  note_read(member, bytes_);
  return place(member, posting(member).room);
}

std::span<const std::byte> Post::shown(int member) const {
  const std::uint32_t room = posting(member).room;
  return {place(member, room), room != 0 ? sim::kLongPostingBytes : sim::kPostingBytes};
}

// An owner is done only when its readers have read, or if it left: then its memory may be the program's again.
bool Post::read(int member, const sim::ReadOffer& offer, const portals::Region& landing) {
  note_read(member, landing.bytes());
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
  const std::uint64_t here = posting(collective_.rank()).number;
  const std::uint64_t there = is_long() ? rooms.long_calls[rooms.next_long] : 0;
  return std::max(here, there) <= rooms.all_done;
}

bool Post::has_room() {
  if (room_ != 0) return true;  // asked again
  if (!room_is_free()) [[unlikely]] {
    std::uint64_t least = ~std::uint64_t{0};
    for (int member = 0; member < collective_.size(); ++member) {
      // This member's own calls are done when they return, and it reads none of its postings.
      if (member != collective_.rank()) least = std::min(least, sim::done_with(team_.posting_area(member).progress));
    }
    team_.rooms().all_done = least;
    if (!room_is_free()) {
      team_.want_progress();
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

// What ends any wait.
bool Post::gives_up() {
  if (any_lost() || others_speak_of_a_loss()) {
    fail(MPIX_ERR_PROC_FAILED);
    return true;
  }
  if (!messages_are_spoken_of()) return false;
  fail_for_different_calls();
  return true;
}

bool Post::is_shown(int member) {
  sim::PostingData& line = posting(member);
  if (sim::posted(line, number())) [[likely]] {
    if (line.mark != mark()) [[unlikely]]
      fail_for_different_calls();
    return true;
  }
  if (gives_up()) return true;
  if (!doubts()) return false;
  const bool over = is_done(member);
  // Who is done has posted before, or never will.
  if (over && sim::posted(line, number())) return is_shown(member);
  // Who takes the call for a longer one meets the others in it.
  if (!over && !others_go_another_way()) return false;
  if (others_left_the_lost()) {
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
  if (over && has_read()) return true;
  if (over) {
    fail(sim::has_failed(progress, number()) ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
    return true;
  }
  if (!doubts()) return false;
  if (has_read() || is_done(member)) return is_read_by(member);
  sim::PostingData& line = posting(member);
  const bool other = sim::posted(line, number()) && line.mark != mark();
  if (!other && !others_go_another_way()) return false;
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
