// The memory that each rank has for itself, at addresses that are the same for all ranks: one rank's data is visible at
// a time. Small ranges are copied when the visible rank changes; the pages of large ranges are moved (mremap), which
// costs the same for each size and lets ranks share the pages that they have not written. docs/simulate_design.md has
// the measurement behind kRemapBytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "virtual_machine/program/module.hpp"

namespace margay::virtual_machine {

// Ranges from this size on are remapped.
inline constexpr std::size_t kRemapBytes = std::size_t{128} * 1024;

// One rank's data while it is not visible. Empty until then: a new rank has the pristine data.
class Image {
 public:
  Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image();

 private:
  friend class ImageLayout;

  // The content of all copied ranges, one after another.
  std::unique_ptr<std::byte[]> copied_;
  // The pages of each remapped range, in the order of the layout.
  std::vector<MemoryRange> pages_;
};

// The ranges that each rank has for itself, their pristine content, and the image that is visible in them. For the
// thread that runs the ranks.
class ImageLayout {
 public:
  ImageLayout() = default;
  ImageLayout(const ImageLayout&) = delete;
  ImageLayout& operator=(const ImageLayout&) = delete;

  // Adds a range with its present content as the pristine one. Ranges of at least kRemapBytes are widened to whole
  // pages, which must belong to this range alone. Requires: no image has been shown. Empty, or an error message.
  [[nodiscard]] std::string add(MemoryRange range);
  // Whether an added range contains the address.
  [[nodiscard]] bool contains(const void* address) const;
  // The bytes of a rank: those that are copied at each change, and those that are remapped.
  [[nodiscard]] std::size_t copied_bytes() const { return pristine_.size(); }
  [[nodiscard]] std::size_t remapped_bytes() const;

  // Makes `next` the visible image and keeps the data of the one before in its image. No effect if `next` is
  // visible already. `next` lives until forget(next). Empty, or an error message.
  [[nodiscard]] std::string show(Image& next);
  // Ends the use of an image and of its data. If it is visible, the pristine data becomes visible.
  void forget(const Image& image);

 private:
  // A range whose pages move.
  struct Remapped {
    MemoryRange memory;
    // A memory file with the pristine pages, whose zero pages are holes.
    int file = -1;
  };

  // Both return an error message, or an empty string. map_pages_of() gives a new image its pages, which are pristine.
  [[nodiscard]] std::string add_remapped(MemoryRange range);
  [[nodiscard]] std::string map_pages_of(Image& image);
  // From the copied ranges to an image, and back.
  void save_copied(Image& image) const;
  void load_copied(const Image& image) const;
  // Moves pages to another address. False: errno has the reason.
  [[nodiscard]] bool move(MemoryRange from, std::byte* to) const;

  std::vector<MemoryRange> copied_;
  // The pristine content of copied_, in order.
  std::vector<std::byte> pristine_;
  std::vector<Remapped> remapped_;
  // The visible image after a rank's end, until the next show().
  Image between_ranks_;
  // Null before the first show(): the process's own data is visible, which is pristine.
  Image* shown_ = nullptr;
};

}  // namespace margay::virtual_machine
