// The modules of this process: the program and its shared libraries, each with its build id and its code.
//
// A method lies at another address in each process, because programs are loaded at random addresses. It lies at the
// same offset in its module, and a module is the same in two processes if its build id is (the linker's hash of its
// contents, in a PT_NOTE segment). So a method is named by build id and offset (method_word.hpp); an address never
// travels.
//
// Programs that were linked without a build id are distinguished by a hash of their code, which costs a millisecond for
// each 5 MB. The kernel's vdso is a module as well; it has no methods.
//
// Threads: all functions may be called by any thread. The list is an immutable snapshot; a miss scans again, because
// the program may have loaded a library by dlopen. A library with methods must not be unloaded.
#pragma once

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "margay/rmi/bytes.hpp"
#include "margay/rmi/hash.hpp"

namespace margay::rmi {

// Addresses from `begin` up to but without `end`. An empty range contains nothing. By default empty.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] bool contains(std::uintptr_t address) const { return address - begin < end - begin; }
};

// A loaded program or shared library. Constant after construction, and never destroyed: functors and other threads keep
// pointers to it.
struct Module {
  std::string path;                     // as the loader has it
  std::string build_id;                 // hexadecimal; "" if it was linked without one
  std::uint64_t id = 0;                 // a hash of the build id, or of the code if there is none
  std::uint16_t tag = 0;                // 16 bits of `id`, less than kModuleTags
  std::uintptr_t base = 0;              // what offsets count from
  AddressRange code;                    // its largest executable segment
  std::vector<AddressRange> more_code;  // the others; usually none
  std::vector<AddressRange> readable;

  // Whether a function may lie at this address.
  [[nodiscard]] bool has_code(std::uintptr_t address) const {
    if (code.contains(address)) return true;
    for (const AddressRange& range : more_code)
      if (range.contains(address)) return true;
    return false;
  }
  // Whether `bytes` bytes at this address are in one readable segment: they may be read without a fault, as long as the
  // module stays loaded.
  [[nodiscard]] bool can_read(std::uintptr_t address, std::size_t bytes) const {
    for (const AddressRange& range : readable)
      if (range.contains(address) && range.end - address >= bytes) return true;
    return false;
  }
};

// The number of tags: two values are left for pointers to members without a module's tag (method_word.hpp). Tags are
// not unique. They detect, mostly, that the two nodes have the functor in different modules.
inline constexpr std::uint16_t kModuleTags = 0xFFFE;

// --- Reading the modules. ---

namespace detail {

// The build id in a PT_NOTE segment of `bytes` bytes, in hexadecimal, or "". The loader has mapped and checked the
// segment. Notes are skipped by their own sizes, so each is checked against the rest.
inline std::string build_id_in(const char* note, std::size_t bytes) {
  constexpr std::size_t kNoteAlignment = 4;
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, note, sizeof head);
    const std::size_t name = round_up(head.n_namesz, kNoteAlignment);
    const std::size_t size = sizeof head + name + round_up(head.n_descsz, kNoteAlignment);
    if (name > bytes || size > bytes) return "";
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(note + sizeof head, "GNU", 4) == 0) {
      std::string text;
      for (std::size_t i = 0; i < head.n_descsz; ++i) {
        constexpr const char* kDigits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(note[sizeof head + name + i]);
        (text += kDigits[byte / 16]) += kDigits[byte % 16];
      }
      return text;
    }
    note += size;
    bytes -= size;
  }
  return "";
}

// The path of the program, to which the loader gives no name.
inline std::string path_of_program() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "the program";
}

// The module that the loader describes. Its segments are mapped while it is loaded, so its notes and code can be read.
// The largest code segment is kept apart, because the usual method lies there and one comparison finds it.
inline std::unique_ptr<Module> read_module(const dl_phdr_info& info) {
  auto module = std::make_unique<Module>();
  module->path = info.dlpi_name == nullptr || *info.dlpi_name == '\0' ? path_of_program() : info.dlpi_name;
  module->base = info.dlpi_addr;
  for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    const AddressRange range{info.dlpi_addr + segment.p_vaddr, info.dlpi_addr + segment.p_vaddr + segment.p_memsz};
    if (segment.p_type == PT_NOTE && module->build_id.empty())
      module->build_id = build_id_in(reinterpret_cast<const char*>(range.begin), segment.p_memsz);
    if (segment.p_type != PT_LOAD) continue;
    if ((segment.p_flags & PF_R) != 0) module->readable.push_back(range);
    if ((segment.p_flags & PF_X) != 0) module->more_code.push_back(range);
  }
  const auto largest = std::max_element(module->more_code.begin(), module->more_code.end(),
                                        [](auto& a, auto& b) { return a.end - a.begin < b.end - b.begin; });
  if (largest != module->more_code.end()) {
    module->code = *largest;
    module->more_code.erase(largest);
  }
  module->id = hash_text(module->build_id);
  if (module->build_id.empty())
    module->id = hash_bytes(reinterpret_cast<const void*>(module->code.begin), module->code.end - module->code.begin);
  module->tag = static_cast<std::uint16_t>(module->id % kModuleTags);
  return module;
}

// The snapshot, and all modules and earlier snapshots, which readers may still use. Readers take no lock: they load one
// pointer. A scan holds the lock while it walks the loader's list, and publishes a new snapshot only if something has
// changed.
class ModuleList {
 public:
  using Snapshot = std::vector<const Module*>;

  // All modules when they were last read, the program first: dl_iterate_phdr() begins with it.
  [[nodiscard]] const Snapshot& snapshot() {
    const Snapshot* now = current_.load(std::memory_order_acquire);  // pairs with the release in scan()
    return now != nullptr ? *now : scan();
  }
  // Reads the loader's list again if it has changed since.
  const Snapshot& scan() {
    const std::lock_guard lock(mutex_);
    auto next = std::make_unique<Snapshot>();
    Walk walk{this, next.get()};
    ::dl_iterate_phdr(&ModuleList::visit, &walk);
    const Snapshot* now = current_.load(std::memory_order_relaxed);  // relaxed: written under the lock only
    if (now == nullptr || *now != *next) {
      now = next.get();
      snapshots_.push_back(std::move(next));
      current_.store(now, std::memory_order_release);  // pairs with the acquire in snapshot(): the modules are complete
    }
    return *now;
  }

 private:
  struct Walk {
    ModuleList* list;
    Snapshot* found;
  };
  static int visit(dl_phdr_info* info, std::size_t /*bytes*/, void* argument) {
    auto* walk = static_cast<Walk*>(argument);
    walk->found->push_back(walk->list->known(*info));
    return 0;
  }
  // The module that is known already, or a new one. Two libraries never begin at one address, unless the first was
  // unloaded: then the path differs, mostly.
  const Module* known(const dl_phdr_info& info) {
    const char* path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
    for (const auto& one : modules_)
      if (one->base == info.dlpi_addr && (*path == '\0' || one->path == path)) return one.get();
    modules_.push_back(read_module(info));
    return modules_.back().get();
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Module>> modules_;      // guarded by mutex_
  std::vector<std::unique_ptr<Snapshot>> snapshots_;  // guarded by mutex_
  std::atomic<const Snapshot*> current_ = nullptr;
};

// Never destroyed: a thread may execute methods while the process ends.
inline ModuleList& module_list() {
  static auto* list = new ModuleList;
  return *list;
}

// The first module that `wanted` accepts, after a second look at the loader's list if it is not in the snapshot. A
// damaged request costs such a look each time, which takes the loader's lock.
template <class Wanted>
const Module* find_module(Wanted wanted) {
  for (const Module* module : module_list().snapshot())
    if (wanted(*module)) return module;
  for (const Module* module : module_list().scan())
    if (wanted(*module)) return module;
  return nullptr;
}

}  // namespace detail

// --- Finding a module; null if there is none. ---

// All modules, the program first. The reference is valid forever; a later call may return another list.
inline const std::vector<const Module*>& modules() {
  return detail::module_list().snapshot();
}
// The module with this address in its code: of a method that the program names, and of a slot in a vtable.
inline const Module* module_of_code(std::uintptr_t address) {
  return detail::find_module([=](const Module& module) { return module.has_code(address); });
}
// The module with these bytes readable: they can be read to check them.
inline const Module* module_to_read(std::uintptr_t address, std::size_t bytes) {
  return detail::find_module([=](const Module& module) { return module.can_read(address, bytes); });
}
// The module with this id: of a request for a method outside of its functor's module.
inline const Module* module_of_id(std::uint64_t id) {
  return detail::find_module([=](const Module& module) { return module.id == id; });
}

}  // namespace margay::rmi
