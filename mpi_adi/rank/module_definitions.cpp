#include "mpi_adi/rank/module_definitions.hpp"

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <string>

namespace margay::mpi_adi {

namespace {

struct Module {
  std::uintptr_t address = 0;  // is looked for
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::string build_id;
  std::string path;
};

std::string path_of_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

// Notes lie in a row: their heads, names and contents, each filled up to 4 bytes.
std::size_t filled_up(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

std::string build_id_in(const std::byte* notes, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes + at, sizeof head);
    const std::size_t content = at + sizeof head + filled_up(head.n_namesz);
    const std::size_t next = content + filled_up(head.n_descsz);
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

int look(dl_phdr_info* info, std::size_t /*bytes*/, void* wanted) {
  auto& module = *static_cast<Module*>(wanted);
  std::uintptr_t begin = ~std::uintptr_t{0};
  std::uintptr_t end = 0;
  std::string build_id = "-";
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) begin = std::min(begin, at), end = std::max(end, at + part.p_memsz);
    if (part.p_type == PT_NOTE && build_id == "-") {
      build_id = build_id_in(reinterpret_cast<const std::byte*>(at), part.p_memsz);
    }
  }
  if (module.address < begin || module.address >= end) return 0;
  module.begin = begin;
  module.end = end;
  module.build_id = build_id;
  module.path = info->dlpi_name[0] != '\0' ? info->dlpi_name : path_of_program();
  return 1;
}

}  // namespace

void ModuleDefinitions::called_from(sim::Recorder& recorder, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Range& range : told_) {
    if (at >= range.begin && at < range.end) return;
  }
  Module module;
  module.address = at;
  if (misses_ == kMissesMax) return;
  if (dl_iterate_phdr(look, &module) == 0) {
    ++misses_;
    return;
  }
  told_.insert(told_.begin(), {module.begin, module.end});
  recorder.define(sim::DefinitionKind::module, module.begin, module.end - module.begin,
                  module.build_id + " " + module.path);
}

}  // namespace margay::mpi_adi
