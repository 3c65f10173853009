// The dynamic loader's search for a shared library (ld.so(8)), repeated without running the program.
// Order: DT_RPATH of the requesting file and of the files that loaded it (only if the requesting file has no
// DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH of the requesting file, the loader's cache, the system's folders. Not
// covered: folders for processor capabilities outside the cache, LD_PRELOAD.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command/run/program/elf_symbols.hpp"

namespace margay::command {

// The folders that a file names for the libraries it needs, with $ORIGIN replaced.
struct NamedFolders {
  // DT_RPATH of the file and of the files that loaded it.
  std::vector<std::string> rpath;
  std::vector<std::string> runpath;
};

// The folders of the file at `path`. `loader`: those of the file that loaded it; a program has none.
[[nodiscard]] NamedFolders named_folders(const std::string& path, const ElfSymbols& symbols,
                                         const NamedFolders& loader);

// The search for one program: its LD_LIBRARY_PATH and the cache, read once.
class LibrarySearch {
 public:
  // `library_path` as in LD_LIBRARY_PATH. Tests pass another `cache_file`. A missing cache, or one of another format,
  // counts as empty.
  explicit LibrarySearch(const std::string& library_path, const std::string& cache_file = "/etc/ld.so.cache");

  // The path of a readable 64-bit ELF file; empty: none was found. `folders`: those of the requesting file.
  [[nodiscard]] std::string find(const std::string& name, const NamedFolders& folders) const;

 private:
  [[nodiscard]] std::string find_in_cache(std::string_view name) const;

  std::vector<std::string> library_path_;
  // The file's bytes; empty: no cache.
  std::string cache_;
};

}  // namespace margay::command
