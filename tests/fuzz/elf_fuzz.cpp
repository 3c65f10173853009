// A libFuzzer target for the reader of programs' symbols, which `margay run` applies to any file. Corpus:
// tests/fuzz/elf_corpus.
#include <cstddef>
#include <cstdint>
#include <span>

#include "command/run/program/elf_symbols.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  margay::command::ElfSymbols symbols;
  const std::span file(reinterpret_cast<const std::byte*>(data), bytes);
  static_cast<void>(margay::command::read_elf_symbols(file, symbols).ok());
  return 0;
}
