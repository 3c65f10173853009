// The common part of all memory descriptors: counters, options, and the link on the list of changed descriptors.
#pragma once

#include <cstdint>
#include <string_view>

#include "portals/base/assert.hpp"
#include "portals/base/header.hpp"

namespace margay::portals {

enum class OffsetBy : std::uint8_t { sender, receiver };
enum class Save : std::uint8_t { header = 1, body = 2, both = 3 };  // same bits as Saved
enum class Direction : std::uint8_t { write_only, read_only };      // read: the kernel replies out of it
enum class Progression : std::uint8_t { linear, circular };
static_assert(static_cast<int>(Save::header) == static_cast<int>(Saved::header) &&
              static_cast<int>(Save::body) == static_cast<int>(Saved::body) &&
              static_cast<int>(Save::both) == static_cast<int>(Saved::both));

enum class DescriptorType : std::uint8_t { single_block, dynamic_block, independent_block, combined_block };
[[nodiscard]] std::string_view name(DescriptorType type);

// What a descriptor is asked and told by the walk (portals/base/verdict.hpp).
enum class Passed : std::uint8_t;
struct Verdict;

// How a portal or a match entry uses a descriptor. An overlaid entry uses another's with options of its own
// (section 1.2: "overlaid so that the same memory region is accessed or manipulated"). Which options a type has is the
// paper's list; attach() refuses the others:
//   single:      offset_by, save header | body | both, direction, acknowledge
//   dynamic:     save header | both, acknowledge                      (always write_only)
//   independent: save header | both, direction, acknowledge           (progression belongs to the storage),
//                truncate: margay's own                               (docs/departures.md)
//   combined:    offset_by, direction, acknowledge                    (saves the body)
struct Options {
  Save save = Save::both;
  OffsetBy offset_by = OffsetBy::receiver;
  Direction direction = Direction::write_only;
  bool acknowledge = false;
  bool truncate = false;  // a body longer than the buffer is saved as far as it fits, instead of failing as too small
};

// nullptr when `type` has these options, else a sentence: why not, and what to choose. A combined block always saves
// the body; it takes Save::both, the default, for that. Internal to portals.
[[nodiscard]] const char* refusal(DescriptorType type, const Options& options);

// A descriptor's counters, its owner, and its link on the changed list. Owned by the program; must outlive every entry
// and portal that it is attached to and every verdict on it. Only the thread that holds the process lock touches it.
class Descriptor {
 public:
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  virtual ~Descriptor();

  [[nodiscard]] DescriptorType type() const { return type_; }
  // "A process sees an arrival in its descriptor's counters": bytes of bodies deposited or replied, and messages.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  // Messages whose place is reserved and whose bodies are still arriving: the memory must stay, even if no entry leads
  // to it. Independent blocks do not count here, because each of their rows has its state.
  [[nodiscard]] std::uint16_t under_way() const { return under_way_; }

  // Opaque owner tag for the drainer of the changed list; portals does not interpret it.
  void set_owner(void* owner, std::uint32_t owner_kind) { owner_ = owner, owner_kind_ = owner_kind; }
  [[nodiscard]] void* owner() const { return owner_; }
  [[nodiscard]] std::uint32_t owner_kind() const { return owner_kind_; }

 protected:
  explicit Descriptor(DescriptorType type) : type_(type) {}

 private:
  friend class ChangedList;
  friend class Delivery;
  friend class Storage;
  Descriptor* next_changed_ = nullptr;
  Descriptor* previous_changed_ = nullptr;  // so that a descriptor that goes away unlinks itself
  class ChangedList* changed_on_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t messages_ = 0;
  void* owner_ = nullptr;
  std::uint32_t owner_kind_ = 0;
  std::uint16_t under_way_ = 0;  // a wire brings one body at a time, or one from each peer
  DescriptorType type_;
};

// The descriptors whose counters changed since they were last taken, oldest change first, each at most once, so that
// looking costs nothing per posted entry (docs/architecture.md: down by call, up by poll).
class ChangedList {
 public:
  ChangedList() = default;
  ChangedList(const ChangedList&) = delete;
  ChangedList& operator=(const ChangedList&) = delete;
  ~ChangedList();
  // No effect when it is already on the list.
  void add(Descriptor& descriptor) {
    if (descriptor.changed_on_ == nullptr) [[likely]]
      return append(descriptor);
    MARGAY_ASSERT(descriptor.changed_on_ == this);
  }
  void remove(Descriptor& descriptor);  // no effect when it is not on it
  // The longest-changed descriptor, taken off; nullptr when none.
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

// A callback for an independent block that had no buffer left and has one again. The match index leaves entries with
// exhausted storage out until then.
struct RoomWatch {
  void (*has_room)(RoomWatch& watch) = nullptr;  // the watch is off the list when this is called
  RoomWatch* next = nullptr;
  RoomWatch* previous = nullptr;
};

}  // namespace margay::portals
