// A call by way of memory in which some show and others read, and nobody waits for those that only read: a member posts
// what others want of it (sim/shm/posting), and is done.
//
//   Post post(collective, team, bytes);
//   who shows:   co_await post.room(); if (no error) { write post.mine(); post.show_to_all(); }
//   who reads:   co_await post.of(member); if (no error) read post.data(member);
//
// So a root runs ahead of its receivers, by as many calls as it has postings, and whoever is behind finds several calls
// at once when it is scheduled. For calls that wait in place. The trace has who wrote and who read.
#pragma once

#include <cstdint>

#include "collectives/portal/shown.hpp"

namespace margay::collectives {

// What a member posts in a call, at most.
inline constexpr std::uint64_t kPostedBytes = sim::kLongPostingBytes;

class Post : public Shown {
 public:
  // `bytes`: what each that shows something shows, the same on all; at most kPostedBytes. Requires: team.has_strips().
  Post(Collective& collective, Team& team, std::uint64_t bytes);

  class Wait : public mpi_adi::Awaitable<Wait> {
   public:
    Wait(Post& of, int member) : of_(of), member_(member) {}
    [[nodiscard]] bool advance() { return member_ == kRoom ? of_.has_room() : of_.is_shown(member_); }
    [[nodiscard]] Flow& flow() const { return of_.flow(); }
    [[nodiscard]] int messages() const { return 1; }

   private:
    Post& of_;
    int member_;
  };
  // Until this member may post: all are done with the call that had the posting before. Or an error.
  [[nodiscard]] Wait room() { return {*this, kRoom}; }
  // Until `member` has posted. Or an error.
  [[nodiscard]] Wait of(int member) { return {*this, member}; }

  [[nodiscard]] std::byte* mine();
  void show_to_all();
  void show_to(int member);
  [[nodiscard]] const std::byte* data(int member) const;

 private:
  static constexpr int kRoom = -1;
  [[nodiscard]] bool has_room();
  [[nodiscard]] bool is_shown(int member);
  [[nodiscard]] bool room_is_free() const;
  [[nodiscard]] bool is_long() const { return bytes_ > sim::kPostingBytes; }
  [[nodiscard]] std::uint32_t slot() const { return static_cast<std::uint32_t>(number() % sim::kPostings); }
  [[nodiscard]] sim::PostingData& posting(int member) const { return team_.posting_area(member).postings[slot()]; }
  [[nodiscard]] std::byte* place(int member, std::uint32_t room) const;
  [[nodiscard]] std::uint64_t mark() const;
  void write_posting();
  [[nodiscard]] bool gives_up();

  std::uint64_t bytes_;
  std::uint32_t room_ = 0;  // PostingData::room of this member's
};

}  // namespace margay::collectives
