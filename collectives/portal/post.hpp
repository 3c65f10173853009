// A call through shared memory in which some members post data and others read the postings (sim/shm/posting). A poster
// does not wait until its posting is read.
//
//   Post post(collective, team, bytes);
//   poster:   co_await post.room(); if (no error) { write post.mine(); post.show_to_all(); }
//   reader:   co_await post.of(member); if (no error) read post.data(member);
//
// With Post::Own each member chooses its number of bytes. Its data must contain that number, because the readers do not
// have it; they use shown(member). A posting may also contain offers to read data in its owner's memory:
//
//   reader:   if (post.read(member, offer, landing)) ...; when all is read: post.publish_read();
//   poster:   co_await post.read_by(member), before it returns.
//
// So a root may run ahead of its receivers by as many calls as it has postings. A member that is behind finds the data
// of several calls when it is scheduled. Only for calls that wait in place. The trace records the writer and the
// readers.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/portal/shown.hpp"

namespace margay::collectives {

// Bytes that a member posts in a call, at most.
inline constexpr std::uint64_t kPostedBytes = sim::kLongPostingBytes;

// One member's side of one call through postings. Refers to `collective` and `team`, which outlive it. A poster wakes
// the readers that may sleep; readers poll the posting's line.
class Post : public Shown {
 public:
  // `bytes`: the length of every posting, the same on all members; at most kPostedBytes. Requires: team.has_strips().
  Post(Collective& collective, Team& team, std::uint64_t bytes);
  // The constructor's argument for members that post different numbers of bytes.
  struct Own {
    std::uint64_t bytes;  // shown by this member
  };
  // The same, but this member's posting has a length of its own.
  Post(Collective& collective, Team& team, Own own);

  // An awaitable of one condition of a Post.
  class Wait : public mpi_adi::Awaitable<Wait> {
   public:
    enum class For : std::uint8_t { room, posting, postings, reader };
    Wait(Post& of, For what, int member) : of_(of), what_(what), member_(member) {}
    [[nodiscard]] bool advance() {
      switch (what_) {
        case For::room:
          return of_.has_room();
        case For::posting:
          return of_.is_shown(member_);
        case For::postings:
          return of_.are_shown(member_);
        case For::reader:
          break;
      }
      return of_.is_read_by(member_);
    }
    [[nodiscard]] Flow& flow() const { return of_.flow(); }
    [[nodiscard]] int messages() const { return 1; }

   private:
    Post& of_;
    For what_;
    int member_;
  };
  // Waits until this member may post: until all members are done with the call that used its posting before, or until
  // an error.
  [[nodiscard]] Wait room() { return {*this, Wait::For::room, 0}; }
  // Waits until `member` has posted, or an error.
  [[nodiscard]] Wait of(int member) { return {*this, Wait::For::posting, member}; }
  // Waits until all others have posted, or an error.
  [[nodiscard]] Wait of_all() { return {*this, Wait::For::postings, 0}; }
  // Waits until `member` has read the data that this member offers in its own memory, or until an error, for example
  // because `member` left the call without reading.
  [[nodiscard]] Wait read_by(int member) { return {*this, Wait::For::reader, member}; }

  // The memory into which this member writes its posting. Requires: room() awaited, and no error.
  [[nodiscard]] std::byte* mine();
  // Publish what this member wrote. show() wakes no reader; notify() wakes one that may sleep.
  void show();
  void notify(int member) const { team_.wake(member); }
  // show(), then notify() for all others or for one.
  void show_to_all();
  void show_to(int member);
  // A member's posting of the length that all members gave to the constructor. Requires: of(member) awaited, and no
  // error.
  [[nodiscard]] const std::byte* data(int member) const;
  // The whole memory of a posting made with `Own`; the length of its data is in the data. The caller records how many
  // bytes it reads (record_read).
  [[nodiscard]] std::span<const std::byte> shown(int member) const;
  // Fills `landing` from a member's own memory. Returns false if the call has failed.
  [[nodiscard]] bool read(int member, const sim::ReadOffer& offer, const portals::Region& landing);
  // Whether others can read these pieces of this rank's memory.
  [[nodiscard]] bool can_be_read(std::span<const portals::Buffer> pieces) const { return team_.can_be_read(pieces); }
  // Records that this member leaves the call before all data that it offers is read. Readers check this after they have
  // read.
  void leave_early() const { team_.publish_done(number(), collective_.error_class() == MPIX_ERR_PROC_FAILED); }
  // Records that this member has read all that others show of their own memory.
  void publish_read() { team_.publish_read(number()); }

 private:
  // The conditions of the four waits. Each returns true also when the call has failed.
  [[nodiscard]] bool has_room();
  [[nodiscard]] bool is_shown(int member);
  // Polls members from `next` on, and advances it past those that have posted.
  [[nodiscard]] bool are_shown(int& next);
  [[nodiscard]] bool is_read_by(int member);
  // Whether this member's posting, and for long data also its next long room, is free: all members are done with the
  // calls that used them last.
  [[nodiscard]] bool room_is_free() const;
  // Whether the data lies in one of the long rooms.
  [[nodiscard]] bool is_long() const { return bytes_ > sim::kPostingBytes; }
  // The posting that this call uses: each kPostings-th call has the same.
  [[nodiscard]] std::uint32_t slot() const { return static_cast<std::uint32_t>(number() % sim::kPostings); }
  [[nodiscard]] sim::PostingData& posting(int member) const { return team_.posting_area(member).postings[slot()]; }
  // The address of a member's data: in its posting, behind the postings, or in long room `room` - 1.
  [[nodiscard]] std::byte* data_address(int member, std::uint32_t room) const;
  // This member's identification of the call; members whose marks differ make different calls.
  [[nodiscard]] std::uint64_t mark() const;
  // Fails the call and returns true if a process is lost, or if notices show that the calls differ.
  [[nodiscard]] bool gives_up();
  // Whether other members make this call by a shared-memory barrier or by messages. Tested only in long waits.
  [[nodiscard]] bool others_use_another_method() const {
    return barrier_begun() || (checks_closely() && has_early_message());
  }

  std::uint64_t bytes_;     // shown by this member
  bool own_ = false;        // members post different numbers of bytes
  std::uint32_t room_ = 0;  // PostingData::room of this member's posting
};

}  // namespace margay::collectives
