#include "sim/machine/mapping.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace margay::sim {

namespace {

portals::Status take(void* base, std::uint64_t bytes, std::span<std::byte>& out) {
  if (base == MAP_FAILED) {
    return portals::Status::error("cannot map " + std::to_string(bytes) + " bytes: " + std::strerror(errno) +
                                  "; see the limits on memory and address space (ulimit -v)");
  }
  out = {static_cast<std::byte*>(base), bytes};
  return {};
}

}  // namespace

Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

portals::Status Mapping::map(int descriptor, std::uint64_t bytes, Mapping& out) {
  struct stat about {};
  if (fstat(descriptor, &about) != 0 || static_cast<std::uint64_t>(about.st_size) < bytes) {
    return portals::Status::error("the shared segment has " + std::to_string(about.st_size) + " bytes, " +
                                  std::to_string(bytes) +
                                  " are needed: launcher and library are of different versions");
  }
  Mapping mapping;
  portals::Status status =
      take(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), bytes, mapping.bytes_);
  out = std::move(mapping);
  return status;
}

portals::Status Mapping::anonymous(std::uint64_t bytes, Mapping& out) {
  Mapping mapping;
  portals::Status status =
      take(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), bytes,
           mapping.bytes_);
  out = std::move(mapping);
  return status;
}

}  // namespace margay::sim
