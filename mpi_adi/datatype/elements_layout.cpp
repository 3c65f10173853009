#include "mpi_adi/datatype/elements_layout.hpp"

#include "mpi_adi/datatype/copy_strip.hpp"
#include "mpi_adi/datatype/layout_build.hpp"
#include "portals/base/region.hpp"

namespace margay::mpi_adi {

namespace {

std::uintptr_t address(const std::byte* base, std::uintptr_t offset) {
  return reinterpret_cast<std::uintptr_t>(base) + offset;
}
std::uintptr_t address(const std::byte* base, std::int64_t offset) {
  return address(base, static_cast<std::uintptr_t>(offset));
}

// More bytes than any memory has, but so few that iterations can be counted in 63 bits.
constexpr std::uint64_t kEndlessBytes = std::uint64_t{1} << 62;

}  // namespace

// The loop over the elements is part of the layout, so a walk handles it like any other loop. If each element continues
// the blocks of the previous one, layout_repeat() folds this loop and the element's own into one.
ElementsLayout::ElementsLayout(const mpi_adi::Layout& element, std::int64_t extent) {
  if (!element.node) return;
  root_ = layout_repeat(element, static_cast<std::int64_t>(kEndlessBytes / element.node->size), extent);
  LayoutWalker walker(*root_.node, address(nullptr, root_.offset), 0);
  first_run_ = walker.run();
  first_ = walker.take(kEndlessBytes);
}

portals::Buffer ElementsLayout::piece(std::byte* base, std::uint64_t at) const {
  // The first request to each region is for its first piece, which is stored and needs no walk.
  if (at == 0) {
    return {reinterpret_cast<std::byte*>(address(base, first_run_.base)), static_cast<std::size_t>(first_run_.bytes)};
  }
  const Strip run = LayoutWalker(*root_.node, address(base, root_.offset), at).run();
  return {reinterpret_cast<std::byte*>(run.base), static_cast<std::size_t>(run.bytes)};
}

// Most buffers are one strip. The stored strip saves the walk, which takes as long as copying 1 KiB.
std::uint64_t ElementsLayout::first_runs(std::uint64_t at, std::uint64_t bytes) const {
  if (at != 0 || bytes > first_.total) return 0;
  if (bytes == first_.total) return first_.count;
  // Entries differ in length, so a part of a strip with entries needs a walk.
  if (first_.entries != nullptr) return 0;
  const std::uint64_t runs = bytes / first_.bytes;
  return runs * first_.bytes == bytes ? runs : 0;
}

void ElementsLayout::gather(const std::byte* base, std::uint64_t at, std::span<std::byte> target) const {
  if (const std::uint64_t runs = first_runs(at, target.size())) {
    pack_strip(target.data(), first_, address(base, std::uintptr_t{0}), runs);
    return;
  }
  LayoutWalker walker(*root_.node, address(base, root_.offset), at);
  std::byte* to = target.data();
  for (std::uint64_t left = target.size(); left != 0;) {
    const Strip strip = walker.take(left);
    to = pack_strip(to, strip);
    left -= strip.total;
  }
}

void ElementsLayout::scatter(std::byte* base, std::uint64_t at, std::span<const std::byte> source) const {
  if (const std::uint64_t runs = first_runs(at, source.size())) {
    unpack_strip(source.data(), first_, address(base, std::uintptr_t{0}), runs);
    return;
  }
  LayoutWalker walker(*root_.node, address(base, root_.offset), at);
  const std::byte* from = source.data();
  for (std::uint64_t left = source.size(); left != 0;) {
    const Strip strip = walker.take(left);
    from = unpack_strip(from, strip);
    left -= strip.total;
  }
}

}  // namespace margay::mpi_adi
