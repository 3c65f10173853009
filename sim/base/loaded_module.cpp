#include "sim/base/loaded_module.hpp"

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace margay::sim {

namespace {

std::string path_of_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

// ELF notes are adjacent: head, name and content, each padded to 4 bytes.
std::size_t filled_up(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

// The build id among a file's notes; "-" without one. Bounds are checked, because the notes come from the file.
std::string build_id_in(const std::byte* notes, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes + at, sizeof head);
    const std::size_t content = at + sizeof head + filled_up(head.n_namesz);
    const std::size_t next = content + filled_up(head.n_descsz);
    // A note that ends past the segment has a damaged length, so no note after it can be found.
    if (next > bytes) break;
    if (head.n_type == NT_GNU_BUILD_ID) {
      std::string text;
      for (std::size_t i = 0; i < head.n_descsz; ++i) {
        text += fmt::format("{:02x}", std::to_integer<unsigned>(notes[content + i]));
      }
      return text;
    }
    at = next;
  }
  return "-";
}

// The loader's entry of a file: the union of its loaded parts.
LoadedModule module_in(const dl_phdr_info& info) {
  LoadedModule module;
  module.begin = ~std::uintptr_t{0};
  module.build_id = "-";
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const std::uintptr_t at = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      module.begin = std::min(module.begin, at);
      module.end = std::max(module.end, at + part.p_memsz);
    }
    if (part.p_type == PT_NOTE && module.build_id == "-") {
      module.build_id = build_id_in(reinterpret_cast<const std::byte*>(at), part.p_memsz);
    }
  }
  module.is_program = info.dlpi_name[0] == '\0';
  module.path = module.is_program ? path_of_program() : info.dlpi_name;
  return module;
}

// The first file for which `wanted` returns true. dl_iterate_phdr holds the loader's lock during the search.
template <typename Wanted>
std::optional<LoadedModule> find(Wanted wanted) {
  struct Search {
    Wanted& wanted;
    std::optional<LoadedModule> found;
  } search{wanted, std::nullopt};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*bytes*/, void* data) {
        auto& state = *static_cast<Search*>(data);
        // The vdso has a name without a file; it is never searched for.
        LoadedModule module = module_in(*info);
        if (!state.wanted(module)) return 0;
        state.found = std::move(module);
        return 1;
      },
      &search);
  return std::move(search.found);
}

// The number of files that the process has unloaded: while it is unchanged, known addresses stay valid.
unsigned long long unloaded_so_far() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*bytes*/, void* data) {
        *static_cast<unsigned long long*>(data) = info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

}  // namespace

std::optional<LoadedModule> loaded_module_of(std::uintptr_t address) {
  return find([address](const LoadedModule& module) { return module.has(address); });
}

std::optional<LoadedModule> loaded_module_of_build(std::uint64_t number) {
  return find([number](const LoadedModule& module) { return build_number(module) == number; });
}

std::uint64_t build_number(const LoadedModule& module) {
  const std::string_view text = module.build_id == "-" ? module.path : module.build_id;
  std::uint64_t number = 0xcbf2'9ce4'8422'2325;  // FNV-1a
  for (const char letter : text) {
    number ^= static_cast<unsigned char>(letter);
    number *= 0x0000'0100'0000'01b3;
  }
  // Never 0, which means "unknown".
  return number | 1U;
}

const LoadedModule* LoadedModules::of(std::uintptr_t address) {
  // A file that is loaded later does not invalidate the cache. The addresses of an unloaded file may pass to another
  // file.
  if (const unsigned long long unloaded = unloaded_so_far(); unloaded != unloaded_) {
    found_.clear();
    unloaded_ = unloaded;
  }
  const auto known =
      std::find_if(found_.begin(), found_.end(), [address](const LoadedModule& module) { return module.has(address); });
  if (known != found_.end()) return &*known;
  std::optional<LoadedModule> module = loaded_module_of(address);
  return module ? &found_.emplace_back(*std::move(module)) : nullptr;
}

}  // namespace margay::sim
