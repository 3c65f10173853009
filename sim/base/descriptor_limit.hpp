// The limit on open files of this process (RLIMIT_NOFILE, ulimit -n).
#pragma once

#include <cstdint>

namespace margay::sim {

// Number of descriptors that a process of a job of N ranks needs: for each other one its connection, or the memory
// that it shares on the node and another of its files; and some of the program's own.
[[nodiscard]] constexpr std::uint64_t descriptors_of_job(std::uint64_t processes) {
  constexpr std::uint64_t kOfEach = 2;
  constexpr std::uint64_t kOthers = 128;
  return kOfEach * processes + kOthers;
}

// Raises the soft limit to the hard one if it is below `wanted`, and else leaves it: a program that uses select()
// cannot handle numbers of 1,024 and more, and one that has enough is not to meet any. What is still not enough is
// named by whoever runs out.
void raise_descriptor_limit_for(std::uint64_t wanted);

}  // namespace margay::sim
