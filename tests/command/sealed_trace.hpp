// A function that gives a hand-modified trace file the right checksum, so that tests reach the checks behind it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "sim/trace/checksum.hpp"
#include "sim/trace/format.hpp"

namespace margay::command::test {

// Seals the file as a closed one. No effect on a file whose header describes more data than there is.
inline void seal(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat about {};
  if (descriptor < 0 || fstat(descriptor, &about) != 0) return;
  const auto bytes = static_cast<std::size_t>(about.st_size);
  void* memory = bytes < sim::kTraceEventsOffset
                     ? MAP_FAILED
                     : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (memory == MAP_FAILED) return;
  auto& header = *static_cast<sim::TraceHeader*>(memory);
  const auto* const file = static_cast<const std::byte*>(memory);
  const std::uint64_t there = (bytes - sim::kTraceEventsOffset) / sim::kTraceEventBytes;
  if (header.name_count <= sim::kMaxTraceNames && header.definitions_used <= sim::kTraceDefinitionsBytes &&
      std::has_single_bit(header.capacity) && header.capacity <= there) {
    header.flags |= sim::kTraceFlagClosed;
    sim::TraceChecksum checksum(header, sim::TraceCloser::rank);
    checksum.add({file + sim::kTraceNamesOffset, header.name_count * sim::kTraceNameBytes});
    checksum.add({file + sim::kTraceDefinitionsOffset, header.definitions_used});
    const std::uint64_t oldest = header.written > header.capacity ? header.written - header.capacity : 0;
    for (std::uint64_t i = oldest; i < header.written; ++i) {
      checksum.add({file + sim::kTraceEventsOffset + (i & (header.capacity - 1)) * sim::kTraceEventBytes,
                    sim::kTraceEventBytes});
    }
    header.checksum = checksum.value();
  }
  munmap(memory, bytes);
}

}  // namespace margay::command::test
