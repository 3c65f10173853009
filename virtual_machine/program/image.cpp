#include "virtual_machine/program/image.hpp"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <string_view>

namespace margay::virtual_machine {
namespace {

// The addresses of the pages of invisible ranks. While a rank is visible, its place here is unmapped; the kernel maps
// nothing there by itself, because it searches for room from the top of the address space (128 TiB) down. The shadow
// memory of AddressSanitizer takes the first 16 TiB.
constexpr std::uintptr_t kPlaces = std::uintptr_t{32} << 40;

// libc's memcpy, because AddressSanitizer's reports the zones that it adds between a program's variables.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  using Memcpy = void* (*)(void*, const void*, std::size_t);
  static const auto memcpy_of_libc =
      reinterpret_cast<Memcpy>(::dlsym(::dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD), "memcpy"));
  memcpy_of_libc(to, from, bytes);
}

// The same without libc: the first constructor adds ranges, and a dlopen() before libc's own constructor would run that
// one, without the environment. Volatile, because compilers replace a plain loop by memcpy.
[[gnu::no_sanitize_address]] void copy_bytes_alone(std::byte* to, const std::byte* from, std::size_t bytes) {
  const volatile std::byte* const source = from;
  for (std::size_t i = 0; i < bytes; ++i) to[i] = source[i];
}

[[nodiscard]] MemoryRange widened_to_pages(MemoryRange range) {
  const std::size_t mask = page_bytes() - 1;
  const auto begin = reinterpret_cast<std::uintptr_t>(range.begin) & ~mask;
  const auto end = (reinterpret_cast<std::uintptr_t>(range.end()) + mask) & ~mask;
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

// The next unused place. Large ranges begin at multiples of 2 MiB: the kernel then moves whole page tables.
[[nodiscard]] std::byte* next_place(MemoryRange range) {
  static std::uintptr_t next = kPlaces;
  constexpr std::uintptr_t kTable = std::uintptr_t{2} << 20;
  const std::uintptr_t place = next + (reinterpret_cast<std::uintptr_t>(range.begin) & (kTable - 1));
  next = (place + range.bytes + kTable - 1) & ~(kTable - 1);
  return reinterpret_cast<std::byte*>(place);
}

[[nodiscard]] std::string error_of(std::string_view call, std::size_t bytes) {
  const int error = errno;
  std::string text =
      std::string(call) + " of " + std::to_string(bytes) + " bytes of a rank's data: " + ::strerror(error);
  if (error == ENOMEM) text += "; use fewer ranks, or raise vm.max_map_count (sysctl)";
  return text;
}

// Writes the pages that are not zero; the others remain holes of the file.
[[nodiscard]] bool write_pages(int file, MemoryRange range) {
  if (::ftruncate(file, static_cast<off_t>(range.bytes)) != 0) return false;
  std::vector<std::byte> page(page_bytes());
  for (std::size_t at = 0; at < range.bytes; at += page.size()) {
    copy_bytes_alone(page.data(), range.begin + at, page.size());
    // A page is zero if its first byte is 0 and each byte is equal to the next.
    if (page.front() == std::byte{0} && std::memcmp(page.data(), page.data() + 1, page.size() - 1) == 0) continue;
    const ssize_t written = ::pwrite(file, page.data(), page.size(), static_cast<off_t>(at));
    if (written != static_cast<ssize_t>(page.size())) return false;
  }
  return true;
}

// Without a reservation of memory, because ranks write to few of the pages.
[[nodiscard]] bool map_private(std::byte* at, std::size_t bytes, int file, int placement) {
  return ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | placement, file, 0) == at;
}

}  // namespace

Image::~Image() {
  for (const MemoryRange& pages : pages_) ::munmap(pages.begin, pages.bytes);
}

std::string ImageLayout::add(MemoryRange range) {
  if (range.bytes == 0) return "";
  if (range.bytes >= kRemapBytes) return add_remapped(widened_to_pages(range));
  copied_.push_back(range);
  pristine_.resize(pristine_.size() + range.bytes);
  copy_bytes_alone(pristine_.data() + pristine_.size() - range.bytes, range.begin, range.bytes);
  return "";
}

// The range itself becomes a private mapping of the file, so that its pages can be moved like those of the images.
std::string ImageLayout::add_remapped(MemoryRange range) {
  const int file = ::memfd_create("margay-pristine-data", MFD_CLOEXEC);
  if (file < 0 || !write_pages(file, range) || !map_private(range.begin, range.bytes, file, MAP_FIXED)) {
    std::string error = error_of("memfd_create", range.bytes);
    if (file >= 0) ::close(file);
    return error;
  }
  remapped_.push_back({range, file});
  return "";
}

bool ImageLayout::contains(const void* address) const {
  const auto in_range = [&](const MemoryRange& range) { return range.contains(address); };
  const auto in_memory = [&](const Remapped& remapped) { return remapped.memory.contains(address); };
  return std::any_of(copied_.begin(), copied_.end(), in_range) ||
         std::any_of(remapped_.begin(), remapped_.end(), in_memory);
}

std::size_t ImageLayout::remapped_bytes() const {
  return std::accumulate(remapped_.begin(), remapped_.end(), std::size_t{0},
                         [](std::size_t sum, const Remapped& one) { return sum + one.memory.bytes; });
}

std::string ImageLayout::map_pages_of(Image& image) {
  for (const Remapped& remapped : remapped_) {
    const MemoryRange pages{next_place(remapped.memory), remapped.memory.bytes};
    if (!map_private(pages.begin, pages.bytes, remapped.file, MAP_FIXED_NOREPLACE))
      return error_of("mmap", pages.bytes);
    image.pages_.push_back(pages);
  }
  return "";
}

bool ImageLayout::move(MemoryRange from, std::byte* to) const {
  return ::mremap(from.begin, from.bytes, from.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
}

void ImageLayout::save_copied(Image& image) const {
  if (image.copied_ == nullptr) image.copied_ = std::make_unique_for_overwrite<std::byte[]>(pristine_.size());
  std::byte* to = image.copied_.get();
  for (const MemoryRange& range : copied_) {
    copy_bytes(to, range.begin, range.bytes);
    to += range.bytes;
  }
}

// An image that was never visible has no data of its own yet.
void ImageLayout::load_copied(const Image& image) const {
  const std::byte* from = image.copied_ != nullptr ? image.copied_.get() : pristine_.data();
  for (const MemoryRange& range : copied_) {
    copy_bytes(range.begin, from, range.bytes);
    from += range.bytes;
  }
}

// If no image is shown, the next one's pages replace the visible ones, which are pristine or of a forgotten rank.
std::string ImageLayout::show(Image& next) {
  if (shown_ == &next) return "";
  if (next.pages_.empty() && !remapped_.empty()) {
    if (std::string error = map_pages_of(next); !error.empty()) return error;
  }
  if (shown_ != nullptr) save_copied(*shown_);
  for (std::size_t i = 0; i < remapped_.size(); ++i) {
    const MemoryRange& memory = remapped_[i].memory;
    // The visible pages are moved away first, because a move to their address would discard them.
    if (shown_ != nullptr && !move(memory, shown_->pages_[i].begin)) return error_of("mremap", memory.bytes);
    if (!move(next.pages_[i], memory.begin)) return error_of("mremap", memory.bytes);
  }
  load_copied(next);
  shown_ = &next;
  return "";
}

void ImageLayout::forget(const Image& image) {
  if (shown_ != &image) return;
  shown_ = nullptr;
  // Can fail only the first time, when it maps pages. The forgotten data then remains visible, and the next show()
  // reports the error.
  static_cast<void>(show(between_ranks_));
}

}  // namespace margay::virtual_machine
