#include <doctest/doctest.h>
#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "command/run/program/elf_symbols.hpp"
#include "command/run/program/symbol_check.hpp"
#include "tests/sim/trace_folder.hpp"

using namespace margay;
using namespace margay::command;

namespace {

std::vector<std::byte> own_image() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::byte> out(bytes.size());
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("this program's own symbols and libraries are read") {
  ElfSymbols symbols;
  REQUIRE(read_elf_symbols(std::string("/proc/self/exe"), symbols).ok());
  CHECK(symbols.is_elf);
  CHECK(has(symbols.undefined, "memfd_create"));
  CHECK(has(symbols.needed, "libc.so.6"));
}

TEST_CASE("a file in another format has no symbols, and a missing file is an error") {
  ElfSymbols symbols;
  REQUIRE(read_elf_symbols(std::string("/etc/passwd"), symbols).ok());
  CHECK_FALSE(symbols.is_elf);
  CHECK_FALSE(read_elf_symbols(std::string("/nonexistent"), symbols).ok());
  CHECK_FALSE(read_elf_symbols(std::string("/tmp"), symbols).ok());
}

TEST_CASE("a pipe is rejected at once, with or without a writer") {
  const margay::sim::TraceFolder folder;
  const std::string name = folder / "fifo";
  REQUIRE(::mkfifo(name.c_str(), 0700) == 0);
  ElfSymbols symbols;
  CHECK(read_elf_symbols(name, symbols).sentence() == "cannot read " + name + ": not a regular file");
}

TEST_CASE("a file truncated anywhere in its tables is malformed, and causes no other fault") {
  const std::vector<std::byte> whole = own_image();
  ElfSymbols symbols;
  for (std::size_t length = 0; length < 300; ++length) {
    static_cast<void>(read_elf_symbols(std::span(whole).first(length), symbols).ok());
  }
  CHECK_FALSE(read_elf_symbols(std::span(whole).first(whole.size() / 2), symbols).ok());
  CHECK_FALSE(read_elf_symbols(std::span(whole).first(40), symbols).ok());
}

TEST_CASE("extreme values in every field of header and section headers cause no fault") {
  const std::vector<std::byte> whole = own_image();
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  std::mt19937_64 random(5);
  const std::uint64_t extremes[] = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0} - 7};
  std::vector<std::size_t> places;
  for (std::size_t at = 16; at < sizeof header; at += 2) places.push_back(at);
  for (std::size_t section = 0; section < header.e_shnum; ++section) {
    for (std::size_t field = 0; field < sizeof(Elf64_Shdr); field += 8) {
      places.push_back(header.e_shoff + section * sizeof(Elf64_Shdr) + field);
    }
  }
  std::vector<std::byte> image = whole;
  for (int round = 0; round < 400; ++round) {
    const std::size_t at = places[random() % places.size()];
    std::memcpy(image.data() + at, &extremes[random() % std::size(extremes)],
                std::min<std::size_t>(8, image.size() - at));
    ElfSymbols symbols;
    static_cast<void>(read_elf_symbols(image, symbols).ok());
    std::memcpy(image.data() + at, whole.data() + at, std::min<std::size_t>(8, image.size() - at));
  }
}

TEST_CASE("MPI's names are distinguished from others") {
  for (const char* name : {"MPI_Send", "PMPI_Send", "mpi_send_", "MPIX_Comm_agree", "MPIR_Dup_fn"})
    CHECK(is_mpi_symbol(name));
  for (const char* name : {"printf", "XMPI_Send", "mpirun", "MPI"}) CHECK_FALSE(is_mpi_symbol(name));
}
