// A call by way of memory in which some show and others read, and nobody waits for those that only read: a member posts
// what others want of it (sim/shm/posting), and is done.
//
//   Post post(collective, team, bytes);
//   who shows:   co_await post.room(); if (no error) { write post.mine(); post.show_to_all(); }
//   who reads:   co_await post.of(member); if (no error) read post.data(member);
//
// Or each names its own number of bytes, of which it tells the others in what it posts (Own): they read shown(member).
// A posting may show where data lies in its owner's memory:
//
//   who reads:   if (post.read(member, offer, landing)) ...; when all is read: post.have_read();
//   who shows:   co_await post.read_by(member), before it is done.
//
// So a root runs ahead of its receivers, by as many calls as it has postings, and whoever is behind finds several calls
// at once when it is scheduled. For calls that wait in place. The trace has who wrote and who read.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/portal/shown.hpp"

namespace margay::collectives {

// What a member posts in a call, at most.
inline constexpr std::uint64_t kPostedBytes = sim::kLongPostingBytes;

class Post : public Shown {
 public:
  // `bytes`: what each that shows something shows, the same on all; at most kPostedBytes. Requires: team.has_strips().
  Post(Collective& collective, Team& team, std::uint64_t bytes);
  struct Own {
    std::uint64_t bytes;  // that this member shows
  };
  Post(Collective& collective, Team& team, Own own);

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
  // Until this member may post: all are done with the call that had the posting before. Or an error.
  [[nodiscard]] Wait room() { return {*this, Wait::For::room, 0}; }
  // Until `member` has posted. Or an error.
  [[nodiscard]] Wait of(int member) { return {*this, Wait::For::posting, member}; }
  // Until all others have posted. Or an error.
  [[nodiscard]] Wait of_all() { return {*this, Wait::For::postings, 0}; }
  // Until `member` has read what this one shows of its own memory. Or an error: it is done with the call without.
  [[nodiscard]] Wait read_by(int member) { return {*this, Wait::For::reader, member}; }

  [[nodiscard]] std::byte* mine();
  // What is written is there for all; those that may sleep are told.
  void show();
  void tell(int member) const { team_.wake(member); }
  void show_to_all();
  void show_to(int member);
  [[nodiscard]] const std::byte* data(int member) const;
  // Of one that names its own bytes: at least those. What is read of them is to be told (note_read).
  [[nodiscard]] std::span<const std::byte> shown(int member) const;
  // Fills `landing` from a member's own memory. false: the call has an error.
  [[nodiscard]] bool read(int member, const sim::ReadOffer& offer, const portals::Region& landing);
  // Whether others can read this memory of this rank.
  [[nodiscard]] bool can_be_read(std::span<const portals::Buffer> pieces) const { return team_.can_be_read(pieces); }
  // This member leaves the call before all that it shows is read: who reads it finds that.
  void leave_early() const { team_.be_done(number(), collective_.error_class() == MPIX_ERR_PROC_FAILED); }
  void have_read() { team_.have_read(number()); }

 private:
  [[nodiscard]] bool has_room();
  [[nodiscard]] bool is_shown(int member);
  // From `next` on, which it moves on.
  [[nodiscard]] bool are_shown(int& next);
  [[nodiscard]] bool is_read_by(int member);
  [[nodiscard]] bool room_is_free() const;
  [[nodiscard]] bool is_long() const { return bytes_ > sim::kPostingBytes; }
  [[nodiscard]] std::uint32_t slot() const { return static_cast<std::uint32_t>(number() % sim::kPostings); }
  [[nodiscard]] sim::PostingData& posting(int member) const { return team_.posting_area(member).postings[slot()]; }
  [[nodiscard]] std::byte* place(int member, std::uint32_t room) const;
  [[nodiscard]] std::uint64_t mark() const;
  [[nodiscard]] bool gives_up();
  // In doubt: others are in another call, or done with this one without having waited.
  [[nodiscard]] bool others_go_another_way() const {
    return somebody_meets() || (looks_closely() && messages_have_come());
  }

  std::uint64_t bytes_;     // that this member shows
  bool own_ = false;        // others show other numbers of bytes
  std::uint32_t room_ = 0;  // PostingData::room of this member's
};

}  // namespace margay::collectives
