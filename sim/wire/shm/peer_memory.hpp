// Repeated reads and writes of the memory of another process of the node, at addresses that the other process has sent:
// a window that the other process's program made of its own memory.
//
// There are two methods, both system calls. Up to 512 bytes in one piece go through the file of the process's memory
// (/proc/PID/mem), which is opened once. The open file identifies the process, so a call need not look the process up,
// and takes 0.75 of the time of process_vm_writev. But it copies the bytes twice. So longer transfers, and transfers in
// several pieces, use process_vm_writev and process_vm_readv, which copy once and take 64 pieces in a call. These calls
// name the process by its number, so its identity is proven again when the last proof is older than a millisecond.
//
// Access through the file ignores page protections, and can even write read-only pages. So the peer must have verified
// that it may itself read and write all of the memory (is_writable_memory() in sim/base/resources).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "portals/base/region.hpp"
#include "sim/wire/shm/process_memory.hpp"

namespace margay::sim {

// Access to one peer's memory, for one thread at a time. Owns the open file.
class PeerMemory {
 public:
  // Requires: the process's memory can be read (try_reading); `area` outlives this object.
  explicit PeerMemory(const RankArea& area) : area_(&area) {}
  PeerMemory(PeerMemory&& from) noexcept
      : area_(from.area_), proof_(from.proof_), file_(std::exchange(from.file_, kNotOpened)) {}
  PeerMemory& operator=(PeerMemory&&) = delete;
  ~PeerMemory();

  // Copies `mine.bytes` bytes from or to the peer's memory at `address`. Requires: the peer may read and write there.
  // On a fault a part may have been copied; after `refused` nothing has been copied.
  [[nodiscard]] ReadFault read(const portals::Buffer& mine, std::uint64_t address);
  [[nodiscard]] ReadFault write(const portals::Buffer& mine, std::uint64_t address);
  // The same for memory in pieces. `theirs` has addresses of the peer, which may be another process. Requires:
  // `mine` and `theirs` have the same number of bytes.
  [[nodiscard]] ReadFault read(const portals::Region& mine, const portals::Region& theirs);
  [[nodiscard]] ReadFault write(const portals::Region& mine, const portals::Region& theirs);

 private:
  enum class Direction : std::uint8_t { read, write };
  // Values of file_ without an open file: opening has not been tried, or the file cannot be used.
  static constexpr int kNotOpened = -1;
  static constexpr int kRefused = -2;
  // The most bytes that go through the file. With more bytes, the second copy costs more than the file saves.
  static constexpr std::size_t kFileBytesMax = 512;

  [[nodiscard]] ReadFault copy(Direction direction, const portals::Region& mine, const portals::Region& theirs);
  [[nodiscard]] ReadFault copy_few(Direction direction, const portals::Buffer& mine, std::uint64_t address);
  [[nodiscard]] ReadFault prove();
  void open_file();

  const RankArea* area_;
  ProofTime proof_;
  int file_ = kNotOpened;
};

}  // namespace margay::sim
