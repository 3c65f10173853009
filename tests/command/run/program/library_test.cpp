// Tests of the search for shared libraries, which follows the dynamic loader's order.
#include <doctest/doctest.h>
#include <elf.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "command/run/program/library_search.hpp"
#include "tests/sim/trace_folder.hpp"

using namespace margay;
using namespace margay::command;

namespace {

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The part of a library that the search reads: its first bytes.
std::string begin_of_elf(char elf_class) {
  std::string bytes(ELFMAG, SELFMAG);
  return (bytes + elf_class).append(60, '\0');
}

std::string number(std::uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// A cache of one library.
std::string cache_of(const std::string& name, const std::string& path) {
  constexpr std::uint32_t kTexts = 48 + 24;
  const auto path_at = static_cast<std::uint32_t>(kTexts + name.size() + 1);
  return "glibc-ld.so.cache1.1" + number(1) + std::string(24, '\0') + number(0x303) + number(kTexts) + number(path_at) +
         std::string(12, '\0') + name + '\0' + path + '\0';
}

}  // namespace

TEST_CASE("a cache contains a library's path, and may be truncated anywhere") {
  const sim::TraceFolder folder;
  const std::string library = folder / "libfar.so.1";
  const std::string cache_file = folder / "cache";
  write(library, begin_of_elf(ELFCLASS64));
  const std::string whole = cache_of("libfar.so.1", library);
  write(cache_file, whole);
  CHECK(LibrarySearch("", cache_file).find("libfar.so.1", {}) == library);
  CHECK(LibrarySearch("", cache_file).find("libfar.so", {}).empty());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(cache_file, whole.substr(0, length));
    CHECK(LibrarySearch("", cache_file).find("libfar.so.1", {}).empty());
  }
  std::string wrong = whole;
  for (std::size_t at = 20; at < 24 + 24 + 24; ++at) {
    wrong[at] = '\xff';
    write(cache_file, wrong);
    static_cast<void>(LibrarySearch("", cache_file).find("libfar.so.1", {}));
  }
}

TEST_CASE("the folders are searched in the loader's order") {
  const sim::TraceFolder folder;
  const std::string cache_file = folder / "cache";
  for (const char* name : {"rpath", "user", "runpath", "cached"}) {
    std::filesystem::create_directory(folder / name);
    write(folder / name + "/libx.so", begin_of_elf(ELFCLASS64));
  }
  write(cache_file, cache_of("libx.so", folder / "cached/libx.so"));
  const LibrarySearch search(folder / "user", cache_file);
  const LibrarySearch without_user("", cache_file);
  CHECK(search.find("libx.so", {{folder / "rpath"}, {}}) == folder / "rpath/libx.so");
  CHECK(search.find("libx.so", {{folder / "rpath"}, {folder / "runpath"}}) == folder / "user/libx.so");
  CHECK(without_user.find("libx.so", {{}, {folder / "runpath"}}) == folder / "runpath/libx.so");
  CHECK(without_user.find("libx.so", {}) == folder / "cached/libx.so");
  CHECK(search.find(folder / "rpath/libx.so", {}) == folder / "rpath/libx.so");
  // A library of another class, and a file in another format, are skipped.
  write(folder / "user/libx.so", begin_of_elf(ELFCLASS32));
  CHECK(search.find("libx.so", {{}, {folder / "runpath"}}) == folder / "runpath/libx.so");
  write(folder / "runpath/libx.so", "INPUT(libx.so.1)");
  CHECK(search.find("libx.so", {{}, {folder / "runpath"}}) == folder / "cached/libx.so");
}

TEST_CASE("a file's folders are its own and, except for DT_RUNPATH, those of the file that loads it") {
  ElfSymbols symbols;
  symbols.rpath = "$ORIGIN/a:/b:${ORIGIN}";
  const NamedFolders outer{{"/outer"}, {"/never"}};
  NamedFolders folders = named_folders("/opt/tool/libx.so", symbols, outer);
  CHECK(folders.rpath == std::vector<std::string>{"/opt/tool/a", "/b", "/opt/tool", "/outer"});
  CHECK(folders.runpath.empty());
  symbols.runpath = "/c";
  folders = named_folders("/opt/tool/libx.so", symbols, outer);
  CHECK(folders.rpath == std::vector<std::string>{"/outer"});
  CHECK(folders.runpath == std::vector<std::string>{"/c"});
}
