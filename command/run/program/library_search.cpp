#include "command/run/program/library_search.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

namespace margay::command {
namespace {

constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";
constexpr std::string_view kOrigins[] = {"${ORIGIN}", "$ORIGIN"};
constexpr std::string_view kSystemFolders[] = {"/lib/x86_64-linux-gnu",
                                               "/usr/lib/x86_64-linux-gnu",
                                               "/lib/aarch64-linux-gnu",
                                               "/usr/lib/aarch64-linux-gnu",
                                               "/lib64",
                                               "/usr/lib64",
                                               "/lib",
                                               "/usr/lib"};

// The cache as ldconfig writes it: a head, `entries` entries, texts. Numbers have the machine's byte order; texts are
// addressed from the file's beginning.
struct CacheHead {
  std::array<char, 20> magic;
  std::uint32_t entries;
  std::array<std::uint32_t, 6> unused;
};
struct CacheEntry {
  std::int32_t flags;
  std::uint32_t name;
  std::uint32_t path;
  std::uint32_t system_version;
  std::uint64_t capabilities;
};
static_assert(sizeof(CacheHead) == 48 && sizeof(CacheEntry) == 24);

// The loader skips a file of another class and searches on.
bool is_usable(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, EI_NIDENT> begin{};
  return file.read(begin.data(), begin.size()) && std::memcmp(begin.data(), ELFMAG, SELFMAG) == 0 &&
         begin[EI_CLASS] == ELFCLASS64;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Splits a list of folders. An empty one is the current directory, as in the loader.
std::vector<std::string> folders_of(const std::string& list) {
  std::vector<std::string> folders;
  if (list.empty()) return folders;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find_first_of(":;", begin), list.size());
    folders.push_back(end > begin ? list.substr(begin, end - begin) : ".");
    begin = end + 1;
  }
  return folders;
}

// After a replacement the search for the token continues behind it, because the replacement may itself contain the
// token.
std::vector<std::string> expanded(const std::string& list, const std::string& origin) {
  std::vector<std::string> folders = folders_of(list);
  for (std::string& folder : folders) {
    for (const std::string_view token : kOrigins) {
      for (std::size_t at = folder.find(token); at != std::string::npos; at = folder.find(token, at + origin.size()))
        folder.replace(at, token.size(), origin);
    }
  }
  return folders;
}

// The text at `offset`; empty if it does not end inside the cache.
std::string_view text_at(std::string_view cache, std::uint32_t offset) {
  if (offset >= cache.size()) return {};
  const std::size_t end = cache.find('\0', offset);
  return end == std::string_view::npos ? std::string_view() : cache.substr(offset, end - offset);
}

template <typename Folders>
std::string find_in(const Folders& folders, const std::string& name) {
  for (const auto& folder : folders) {
    std::string path = std::string(folder) + "/" + name;
    if (is_usable(path)) return path;
  }
  return {};
}

}  // namespace

// The loader ignores DT_RPATH in a file that has DT_RUNPATH.
NamedFolders named_folders(const std::string& path, const ElfSymbols& symbols, const NamedFolders& loader) {
  const std::string origin = folder_of(path);
  NamedFolders folders;
  folders.runpath = expanded(symbols.runpath, origin);
  if (folders.runpath.empty()) folders.rpath = expanded(symbols.rpath, origin);
  folders.rpath.insert(folders.rpath.end(), loader.rpath.begin(), loader.rpath.end());
  return folders;
}

LibrarySearch::LibrarySearch(const std::string& library_path, const std::string& cache_file) {
  library_path_ = folders_of(library_path);
  std::ifstream file(cache_file, std::ios::binary);
  cache_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (cache_.size() < sizeof(CacheHead) || std::string_view(cache_).substr(0, kCacheMagic.size()) != kCacheMagic)
    cache_.clear();
}

std::string LibrarySearch::find(const std::string& name, const NamedFolders& folders) const {
  // A name with a slash is a path and is not searched for.
  if (name.find('/') != std::string::npos) return is_usable(name) ? name : std::string();
  std::string path;
  if (folders.runpath.empty()) path = find_in(folders.rpath, name);
  if (path.empty()) path = find_in(library_path_, name);
  if (path.empty()) path = find_in(folders.runpath, name);
  if (path.empty()) path = find_in_cache(name);
  return path.empty() ? find_in(kSystemFolders, name) : path;
}

std::string LibrarySearch::find_in_cache(std::string_view name) const {
  if (cache_.empty()) return {};
  CacheHead head;
  std::memcpy(&head, cache_.data(), sizeof head);
  const std::size_t most = (cache_.size() - sizeof head) / sizeof(CacheEntry);
  // The count may be wrong in a damaged cache.
  for (std::size_t i = 0; i < head.entries && i < most; ++i) {
    CacheEntry entry;
    std::memcpy(&entry, cache_.data() + sizeof head + i * sizeof entry, sizeof entry);
    if (text_at(cache_, entry.name) != name) continue;
    std::string path(text_at(cache_, entry.path));
    if (is_usable(path)) return path;
  }
  return {};
}

}  // namespace margay::command
