// A misuse, and a program that runs alone, for the two halves of program_misuse.
#pragma once

#include <margay/portals.hpp>

#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

alignas(64) inline std::array<std::byte, 4096> memory;
inline margay::portals::Buffer some() {
  return {memory.data(), 64};
}

// A program alone in its job, with a portal that accepts every message.
struct Alone {
  Alone() {
    if (!margay::Program::start(program).ok() || !program->table().attach(4, block, {}).ok()) std::exit(2);
  }
  std::unique_ptr<margay::Program> program;
  margay::portals::SingleBlock block{some()};
};

struct Misuse {
  const char* name;
  const char* sentence;  // a part of it
  std::function<margay::portals::Status()> act;
};

inline margay::portals::Status done() {
  return {};
}

// The misuses of descriptors and regions, of entries and lists.
std::vector<Misuse> of_heaps();
std::vector<Misuse> of_tables();
std::vector<Misuse> of_entries();
std::vector<Misuse> of_lists();
