// Memory that the members of a mailer on one node share, for its collective operations: a slot for each member, and a
// barrier.
//
// Invariants:
//   1. A member writes its own slot and announcement, and its part of slot 0, only between the barriers that the
//      operations name.
//   2. `arrived` of a member counts its barriers. A member leaves its n-th barrier when all counts are at least n.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "margay/host.hpp"

namespace margay::zipcode::core {

class SharedMemory {
 public:
  // Bytes of a member's slot.
  static constexpr std::size_t kSlotBytes = 32768;

  // Makes memory for `members` with a name of its own, or maps that of this name; nullptr: not possible here.
  [[nodiscard]] static std::unique_ptr<SharedMemory> create(std::size_t members);
  [[nodiscard]] static std::unique_ptr<SharedMemory> open(const std::string& name, std::size_t members);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // The name by which open() finds it, until unlink().
  [[nodiscard]] const std::string& name() const { return name_; }
  void unlink();
  [[nodiscard]] std::byte* slot(std::size_t member) const {
    return base_ + members_ * sizeof(Line) + member * kSlotBytes;
  }
  // What a member announces to the others about its buffer.
  struct Announcement {
    std::uint64_t size = 0, items = 0;
    friend bool operator==(const Announcement&, const Announcement&) = default;
  };
  [[nodiscard]] Announcement& announcement(std::size_t member) const { return line(member).announcement; }
  // Counts a barrier of this member; is_over() is true when all have counted it.
  void arrive(std::size_t member);
  [[nodiscard]] bool is_over(std::size_t member) const;

 private:
  struct alignas(64) Line {
    std::atomic<std::uint64_t> arrived;
    Announcement announcement;
  };
  SharedMemory(std::string name, std::byte* base, std::size_t members, bool is_owner)
      : name_(std::move(name)), base_(base), members_(members), is_linked_(is_owner) {}
  [[nodiscard]] static std::size_t bytes_of(std::size_t members) { return members * (sizeof(Line) + kSlotBytes); }
  [[nodiscard]] static std::unique_ptr<SharedMemory> map(const std::string& name, int flags, std::size_t members);
  [[nodiscard]] Line& line(std::size_t member) const { return reinterpret_cast<Line*>(base_)[member]; }

  std::string name_;
  std::byte* base_;
  std::size_t members_;
  bool is_linked_;
};

}  // namespace margay::zipcode::core
