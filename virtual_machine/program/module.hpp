// A loaded object of the process whose data each rank has for itself: the executable, or a library of its own. System
// libraries and the library that contains this code are shared by all ranks.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace margay::virtual_machine {

// A range of bytes, which it does not own.
struct MemoryRange {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;

  [[nodiscard]] std::byte* end() const { return begin + bytes; }
  [[nodiscard]] bool contains(const void* address) const { return address >= begin && address < begin + bytes; }
};

// The size of a page of memory.
[[nodiscard]] std::size_t page_bytes();

// One such object. Copies of a Module refer to the same loaded object, which is never unloaded.
class Module {
 public:
  // `info` as dl_iterate_phdr passes it, in the thread that will run the ranks.
  explicit Module(const dl_phdr_info& info);

  // The path of the file; empty: the executable.
  [[nodiscard]] const std::string& path() const { return path_; }
  // The names of the libraries that this one needs (DT_NEEDED).
  [[nodiscard]] const std::vector<std::string>& needed() const { return needed_; }
  // The writable segments without the part that is read-only after relocation (RELRO), and the thread's block of
  // thread-local variables.
  [[nodiscard]] std::span<const MemoryRange> data() const { return data_; }
  // Whether the address is code or data of this module.
  [[nodiscard]] bool contains(const void* address) const { return span_.contains(address); }

  // Makes the dynamic linker skip this module's constructors and destructors: its dynamic section gets empty arrays,
  // and an empty function as DT_INIT and DT_FINI. Requires: the dynamic linker has not run them yet.
  void disarm();
  // DT_INIT, then DT_INIT_ARRAY, on the data as it is now.
  void run_constructors(int argc, char** argv, char** environment) const;
  // DT_FINI_ARRAY backwards, then DT_FINI.
  void run_destructors() const;

 private:
  using Constructor = void (*)(int, char**, char**);
  using Destructor = void (*)();

  // Sets dynamic_, span_ and data_ from the program headers.
  void read_segments(const dl_phdr_info& info);
  // Sets the needed libraries, the constructors and the destructors from the dynamic section.
  void read_dynamic_section();

  std::string path_;
  // The difference between an address in memory and in the file.
  ElfW(Addr) load_address_;
  std::span<ElfW(Dyn)> dynamic_;
  // All loaded segments, from the first byte to the last.
  MemoryRange span_;
  std::vector<MemoryRange> data_;
  std::vector<std::string> needed_;
  // DT_INIT, DT_INIT_ARRAY, DT_FINI_ARRAY, DT_FINI, as they were before disarm(); null or empty: none.
  Constructor init_ = nullptr;
  std::span<const Constructor> init_array_;
  std::span<const Destructor> fini_array_;
  Destructor fini_ = nullptr;
};

// Whether ranks share the library of this path: those of the system (/lib, /usr/lib, and libc and the libraries of the
// C++ compiler wherever they are). libgfortran is not shared, because its units belong to a rank.
[[nodiscard]] bool is_shared_library(std::string_view path);

// All modules of the process: each after those that it needs, so the executable is the last.
[[nodiscard]] std::vector<Module> find_modules();

}  // namespace margay::virtual_machine
