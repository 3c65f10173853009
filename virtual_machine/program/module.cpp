#include "virtual_machine/program/module.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace margay::virtual_machine {
namespace {

constexpr std::array<std::string_view, 6> kSystemFolders = {"/lib/",     "/lib64/",     "/lib32/",
                                                            "/usr/lib/", "/usr/lib64/", "/usr/lib32/"};
// Shared wherever they are, because this library uses them too.
constexpr std::array<std::string_view, 12> kSharedNames = {
    "linux-vdso.so", "ld-linux",    "libc.so",      "libm.so",      "libdl.so",   "librt.so",
    "libpthread.so", "libgcc_s.so", "libstdc++.so", "libclang_rt.", "libasan.so", "libubsan.so"};
constexpr std::string_view kFortran = "libgfortran.so";

[[nodiscard]] std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

template <typename Pointer>
[[nodiscard]] Pointer at(ElfW(Addr) address) {
  return reinterpret_cast<Pointer>(address);
}

void do_nothing() {}

// Appends a module after those that it needs. Libraries may need each other, so a module is marked before its needs
// are visited.
void add_with_needed(std::vector<Module>& found, std::size_t index, std::vector<bool>& visited,
                     std::vector<Module>& sorted) {
  if (visited[index]) return;
  visited[index] = true;
  for (const std::string& name : found[index].needed()) {
    const auto match = [&](const Module& other) { return name_of(other.path()) == name_of(name); };
    const auto other = std::find_if(found.begin(), found.end(), match);
    if (other != found.end()) add_with_needed(found, static_cast<std::size_t>(other - found.begin()), visited, sorted);
  }
  sorted.push_back(found[index]);
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Module::Module(const dl_phdr_info& info) : path_(info.dlpi_name), load_address_(info.dlpi_addr) {
  read_segments(info);
  read_dynamic_section();
}

void Module::read_segments(const dl_phdr_info& info) {
  const std::span headers(info.dlpi_phdr, info.dlpi_phnum);
  ElfW(Addr) first = ~ElfW(Addr){0};
  ElfW(Addr) last = 0;
  ElfW(Addr) relro_begin = 0;
  ElfW(Addr) relro_end = 0;
  for (const auto& header : headers) {
    const ElfW(Addr) begin = load_address_ + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      first = std::min(first, begin);
      last = std::max(last, begin + header.p_memsz);
    }
    if (header.p_type == PT_GNU_RELRO) {
      relro_begin = begin;
      // The dynamic linker protects whole pages only.
      relro_end = (begin + header.p_memsz) & ~(page_bytes() - 1);
    }
    if (header.p_type == PT_DYNAMIC) dynamic_ = {at<ElfW(Dyn)*>(begin), header.p_memsz / sizeof(ElfW(Dyn))};
    // The block of the calling thread, which runs all ranks.
    if (header.p_type == PT_TLS && info.dlpi_tls_data != nullptr) {
      data_.push_back({static_cast<std::byte*>(info.dlpi_tls_data), header.p_memsz});
    }
  }
  span_ = {at<std::byte*>(first), last - first};
  for (const auto& header : headers) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    ElfW(Addr) begin = load_address_ + header.p_vaddr;
    const ElfW(Addr) end = begin + header.p_memsz;
    // RELRO is the beginning of its segment. All ranks share it, because nothing writes to it any more.
    if (relro_begin >= begin && relro_begin < end) begin = std::max(begin, relro_end);
    if (begin < end) data_.push_back({at<std::byte*>(begin), end - begin});
  }
}

// On x86-64 the dynamic linker has made the address of the string table absolute; the addresses of the arrays are as in
// the file.
void Module::read_dynamic_section() {
  const char* strings = nullptr;
  ElfW(Addr) init_array = 0;
  ElfW(Addr) fini_array = 0;
  std::size_t init_bytes = 0;
  std::size_t fini_bytes = 0;
  for (const auto& entry : dynamic_) {
    if (entry.d_tag == DT_NULL) break;
    const ElfW(Addr) address = load_address_ + entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRTAB) strings = at<const char*>(entry.d_un.d_ptr);
    if (entry.d_tag == DT_INIT) init_ = at<Constructor>(address);
    if (entry.d_tag == DT_FINI) fini_ = at<Destructor>(address);
    if (entry.d_tag == DT_INIT_ARRAY) init_array = address;
    if (entry.d_tag == DT_FINI_ARRAY) fini_array = address;
    if (entry.d_tag == DT_INIT_ARRAYSZ) init_bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_FINI_ARRAYSZ) fini_bytes = entry.d_un.d_val;
  }
  init_array_ = {at<const Constructor*>(init_array), init_bytes / sizeof(Constructor)};
  fini_array_ = {at<const Destructor*>(fini_array), fini_bytes / sizeof(Destructor)};
  for (const auto& entry : dynamic_) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED && strings != nullptr) needed_.emplace_back(strings + entry.d_un.d_val);
  }
}

// The dynamic linker reads these entries in place (link_map::l_info points to them) when it runs the functions, and
// adds the load address to DT_INIT and DT_FINI. They are usually in pages that are read-only after relocation (RELRO).
void Module::disarm() {
  const std::size_t page = page_bytes();
  const auto begin = reinterpret_cast<std::uintptr_t>(dynamic_.data()) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(dynamic_.data() + dynamic_.size());
  if (dynamic_.empty() || ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0) return;
  for (auto& entry : dynamic_) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_INIT_ARRAYSZ || entry.d_tag == DT_FINI_ARRAYSZ) entry.d_un.d_val = 0;
    if (entry.d_tag == DT_INIT || entry.d_tag == DT_FINI) {
      entry.d_un.d_ptr = reinterpret_cast<ElfW(Addr)>(&do_nothing) - load_address_;
    }
  }
}

void Module::run_constructors(int argc, char** argv, char** environment) const {
  if (init_ != nullptr) init_(argc, argv, environment);
  for (const Constructor constructor : init_array_) constructor(argc, argv, environment);
}

void Module::run_destructors() const {
  for (std::size_t i = fini_array_.size(); i-- > 0;) fini_array_[i]();
  if (fini_ != nullptr) fini_();
}

bool is_shared_library(std::string_view path) {
  const std::string_view name = name_of(path);
  if (name.starts_with(kFortran)) return false;
  const auto begins_path = [&](std::string_view folder) { return path.starts_with(folder); };
  const auto begins_name = [&](std::string_view begin) { return name.starts_with(begin); };
  return std::any_of(kSystemFolders.begin(), kSystemFolders.end(), begins_path) ||
         std::any_of(kSharedNames.begin(), kSharedNames.end(), begins_name);
}

std::vector<Module> find_modules() {
  std::vector<Module> found;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* list) {
    auto& modules = *static_cast<std::vector<Module>*>(list);
    const bool is_executable = info->dlpi_name[0] == '\0' && modules.empty();
    if (!is_executable && (info->dlpi_name[0] == '\0' || is_shared_library(info->dlpi_name))) return 0;
    Module module(*info);
    // The library that contains this code serves all ranks.
    if (!module.contains(reinterpret_cast<const void*>(&find_modules))) modules.push_back(std::move(module));
    return 0;
  };
  ::dl_iterate_phdr(visit, &found);
  // dl_iterate_phdr passes the executable first, but its constructors run last.
  std::vector<bool> visited(found.size());
  std::vector<Module> sorted;
  for (std::size_t index = found.size(); index-- > 1;) add_with_needed(found, index, visited, sorted);
  if (!found.empty()) add_with_needed(found, 0, visited, sorted);
  return sorted;
}

}  // namespace margay::virtual_machine
