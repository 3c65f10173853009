// The resources of this process and their limits: memory, open files, sizes of files, writable pages.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace margay::sim {

// The memory that this process can still allocate: the machine's remainder, and the limits of its control groups.
struct AvailableMemory {
  // The minimum of all limits; all ones: the system reports none.
  std::uint64_t bytes = ~std::uint64_t{0};
  // The limiting value: "MemAvailable of the machine".
  std::string limit;
};

// The least of the machine's available memory and the remainders of the process's control groups (versions 1 and 2, and
// all groups above them). File pages that can be dropped count as available; swap does not. Reads a few files: 0.1 ms.
// `root`: prefix of /proc and /sys, for tests.
[[nodiscard]] AvailableMemory available_memory(const std::string& root = "");

// The machine's memory; 0: the system does not report it.
[[nodiscard]] std::uint64_t physical_memory_bytes();

// The number of file descriptors that each process of a job needs, for the limit on open files (RLIMIT_NOFILE, ulimit
// -n). For each other process: its connection, or the memory that it shares on the node and another file of it. Some
// more are for the program.
[[nodiscard]] constexpr std::uint64_t descriptors_of_job(std::uint64_t processes) {
  constexpr std::uint64_t kOfEach = 2;
  constexpr std::uint64_t kOthers = 128;
  return kOfEach * processes + kOthers;
}

// Raises the soft limit on open files to the hard limit if it is below `wanted`. A process that has enough is not
// changed, because select() cannot handle descriptors of 1,024 and more. If the hard limit is too low, the failing call
// reports it.
void raise_descriptor_limit_for(std::uint64_t wanted);

// The limit on file sizes of this process (RLIMIT_FSIZE, ulimit -f). Code that enlarges a file tests it first: beyond
// the limit the operating system sends SIGXFSZ, which ends a process that does not ignore it.

// The limit in bytes; nothing: none.
[[nodiscard]] std::optional<std::uint64_t> file_size_limit();

// "the limit on file sizes (ulimit -f) is 1024 bytes", or nothing where there is no limit.
[[nodiscard]] std::string describe_file_size_limit();

// Whether every page is readable and writable now (/proc/self/maps); false if that cannot be read. Some 50 us, more in
// processes with many mappings.
[[nodiscard]] bool is_writable_memory(const void* begin, std::size_t bytes);

// Sizes in bytes of the memory that the ranks of a node share.
struct SegmentSizes {
  // The size if a page costs memory only once it is touched.
  std::uint64_t sparse = 0;
  // The size if all pages cost memory at once, and there is enough of it.
  std::uint64_t allocated = 0;
  // The size if all pages cost memory at once, and there is not enough for `allocated`.
  std::uint64_t least = 0;
};

}  // namespace margay::sim
