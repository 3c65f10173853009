// The common part of all memory descriptors: counters, options, and the link on the list of changed descriptors.
#pragma once

#include <cstdint>
#include <string_view>

#include "portals/base/assert.hpp"
#include "portals/base/header.hpp"

namespace margay::portals {

// The source of the offset at which a message is placed: its header, or a counter of the receiver that advances with
// each message. This and the next three are options of the paper, section 1.2.
enum class OffsetBy : std::uint8_t { sender, receiver };
// The parts of a message that are saved. The bits are those of Saved.
enum class Save : std::uint8_t { header = 1, body = 2, both = 3 };
// write_only: puts, replies and acknowledgments are deposited. read_only: the kernel replies to gets out of the memory.
enum class Direction : std::uint8_t { write_only, read_only };
// How an independent block proceeds from row to row: once through its table, or round and round.
enum class Progression : std::uint8_t { linear, circular };
static_assert(static_cast<int>(Save::header) == static_cast<int>(Saved::header) &&
              static_cast<int>(Save::body) == static_cast<int>(Saved::body) &&
              static_cast<int>(Save::both) == static_cast<int>(Saved::both));

// The paper's four memory descriptors. Each descriptor stores its type, so that the path of a message branches without
// a virtual call.
enum class DescriptorType : std::uint8_t { single_block, dynamic_block, independent_block, combined_block };
// "single block" and the like.
[[nodiscard]] std::string_view name(DescriptorType type);

// Defined in portals/base/verdict.hpp: the result at one entry of a walk, and the decision about a message.
enum class Passed : std::uint8_t;
struct Verdict;

// How a portal or a match entry uses a descriptor. Options belong to the entry, so an overlaid entry uses the
// descriptor of another entry with different options (section 1.2: "overlaid so that the same memory region is accessed
// or manipulated"). If the type lacks one of the options, PortalTable::attach() fails, and MatchEntry::set() ends the
// process. The options of each type:
//   single:      offset_by, save header | body | both, direction, acknowledge
//   dynamic:     save header | both, acknowledge                      (always write_only)
//   independent: save header | both, direction, acknowledge           (progression belongs to the storage),
//                truncate: margay's own                               (docs/departures.md)
//   combined:    offset_by, direction, acknowledge                    (saves the body)
struct Options {
  Save save = Save::both;
  // Dynamic and independent blocks place messages themselves, and permit `receiver` alone.
  OffsetBy offset_by = OffsetBy::receiver;
  Direction direction = Direction::write_only;
  // Send an acknowledgment when the message's header names a return portal.
  bool acknowledge = false;
  // If a body is longer than the buffer, save as much as fits, instead of failing with too_small.
  bool truncate = false;
};

// nullptr when `type` has these options; otherwise a message that names the option and the cure. A combined block
// always saves the body; it treats Save::both, the default, as Save::body. Internal to portals.
[[nodiscard]] const char* refusal(DescriptorType type, const Options& options);

// The base of all descriptors: counters, owner tag, and the link on the changed list. Owned by the program. Requires:
// it lives as long as an entry, a portal or a verdict refers to it. Used only under the process lock.
class Descriptor {
 public:
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  // Leaves the changed list.
  virtual ~Descriptor();

  // Constant from construction on.
  [[nodiscard]] DescriptorType type() const { return type_; }
  // The counters by which a program detects arrivals: bytes of bodies deposited or replied, and number of messages.
  // They count completed messages, and never decrease.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  // Messages whose room is reserved and whose bodies are still arriving. While it is not 0, the memory must stay valid,
  // even if no entry leads to it. Independent blocks do not count here, because each of their rows has a state.
  [[nodiscard]] std::uint16_t reserved_messages() const { return reserved_messages_; }

  // Opaque owner tag for the drainer of the changed list; portals does not interpret it.
  void set_owner_tag(void* owner, std::uint32_t owner_tag_kind) { owner_ = owner, owner_tag_kind_ = owner_tag_kind; }
  // The values of the last set_owner_tag(); nullptr and 0 before.
  [[nodiscard]] void* owner() const { return owner_; }
  [[nodiscard]] std::uint32_t owner_tag_kind() const { return owner_tag_kind_; }

 protected:
  explicit Descriptor(DescriptorType type) : type_(type) {}

 private:
  friend class ChangedList;
  friend class Delivery;
  friend class Storage;
  Descriptor* next_changed_ = nullptr;
  // A backward link, so that a descriptor that is destroyed unlinks itself in constant time.
  Descriptor* previous_changed_ = nullptr;
  // The list that the descriptor is on; nullptr: none, and the two links above are stale.
  class ChangedList* changed_on_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t messages_ = 0;
  void* owner_ = nullptr;
  std::uint32_t owner_tag_kind_ = 0;
  // 16 bits suffice: a wire delivers one body at a time, or one from each peer.
  std::uint16_t reserved_messages_ = 0;
  DescriptorType type_;
};

// A queue of the descriptors whose counters changed since they were last taken: oldest change first, each descriptor at
// most once. The cost of a poll therefore depends on the number of changes, not on the number of posted entries
// (docs/architecture.md: down by call, up by poll).
class ChangedList {
 public:
  ChangedList() = default;
  ChangedList(const ChangedList&) = delete;
  ChangedList& operator=(const ChangedList&) = delete;
  // Unlinks the descriptors that are still on it.
  ~ChangedList();
  // Puts a descriptor on the list; no effect when it is already on this list. Requires: it is on no other list.
  void add(Descriptor& descriptor) {
    if (descriptor.changed_on_ == nullptr) [[likely]]
      return append(descriptor);
    MARGAY_ASSERT(descriptor.changed_on_ == this);
  }
  // No effect when the descriptor is not on this list.
  void remove(Descriptor& descriptor);
  // Removes and returns the descriptor that changed first; nullptr when the list is empty. Constant time.
  [[nodiscard]] Descriptor* take() {
    Descriptor* const taken = first_;
    if (taken == nullptr) return nullptr;
    MARGAY_DEBUG_ASSERT(taken->changed_on_ == this);
    // Links are valid only while changed_on_ is set.
    taken->changed_on_ = nullptr;
    first_ = taken->next_changed_;
    (first_ == nullptr ? last_ : first_->previous_changed_) = nullptr;
    return taken;
  }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }

 private:
  void append(Descriptor& descriptor) {
    MARGAY_DEBUG_ASSERT((first_ == nullptr) == (last_ == nullptr));
    descriptor.changed_on_ = this;
    descriptor.next_changed_ = nullptr;
    descriptor.previous_changed_ = last_;
    (last_ == nullptr ? first_ : last_->next_changed_) = &descriptor;
    last_ = &descriptor;
  }

  Descriptor* first_ = nullptr;
  Descriptor* last_ = nullptr;
};

// A callback that an exhausted independent block calls when a buffer is available again. The match index leaves entries
// with exhausted storage out until then. Intrusive, so registering allocates nothing. Owned by the code that registers
// it, and on one block's list at a time.
struct RoomObserver {
  // The observer is off the list when this is called, so it may register again.
  void (*has_room)(RoomObserver& observer) = nullptr;
  RoomObserver* next = nullptr;
  RoomObserver* previous = nullptr;
};

}  // namespace margay::portals
