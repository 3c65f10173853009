// Where the dynamic loader finds a shared library (ld.so(8)): DT_RPATH of who needs it and of those who brought that
// one, LD_LIBRARY_PATH, DT_RUNPATH of who needs it, the loader's cache, the system's folders. Not followed: folders of
// processor capabilities outside of the cache, LD_PRELOAD.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command/run/program/elf_symbols.hpp"

namespace margay::command {

// The folders that a file names for the libraries it needs, $ORIGIN replaced.
struct NamedFolders {
  std::vector<std::string> rpath;  // its own and those of the files that brought it
  std::vector<std::string> runpath;
};

// Of the file at `path`, which a file with `loader`'s folders brought; a program: none.
[[nodiscard]] NamedFolders named_folders(const std::string& path, const ElfSymbols& symbols,
                                         const NamedFolders& loader);

class LibrarySearch {
 public:
  // `library_path` as in LD_LIBRARY_PATH; `cache_file` is /etc/ld.so.cache but in tests. A cache that is not there or
  // of another format has no library.
  explicit LibrarySearch(const std::string& library_path, const std::string& cache_file = "/etc/ld.so.cache");

  // A file that can be read and is a 64-bit ELF file; empty: there is none. `folders` are those of the file that needs
  // it.
  [[nodiscard]] std::string find(const std::string& name, const NamedFolders& folders) const;

 private:
  [[nodiscard]] std::string find_in_cache(std::string_view name) const;

  std::vector<std::string> library_path_;
  std::string cache_;  // the file, from its magic on; empty: none
};

}  // namespace margay::command
