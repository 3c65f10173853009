// The memory of another process of the node, for who reads and writes it again and again at addresses that he was told
// (a window that the program made of its own memory).
//
// Two ways, both system calls with one copy. Few bytes in one piece go through the process's memory as a file
// (/proc/PID/mem), opened once: the open file is the proof which process it is, and the call need not look the process
// up, so that it takes 0.75 of the time of process_vm_writev. More bytes, which that way copies twice, and bytes in
// pieces go by process_vm_writev and process_vm_readv, 64 pieces a call, with a proof that is made anew once in a
// while.
//
// The file asks for no rights of pages: memory is written that its process may only read, and read that it may not even
// read. So who uses it knows that all of the memory may be read and written (sim/base/resources).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "portals/base/region.hpp"
#include "sim/wire/shm/process_memory.hpp"

namespace margay::sim {

class PeerMemory {
 public:
  // Of a process whose memory can be read (try_reading). `area` outlives it.
  explicit PeerMemory(const RankArea& area) : area_(&area) {}
  PeerMemory(PeerMemory&& from) noexcept
      : area_(from.area_), proof_(from.proof_), file_(std::exchange(from.file_, kNotOpened)) {}
  PeerMemory& operator=(PeerMemory&&) = delete;
  ~PeerMemory();

  // Copies `mine.bytes` from or to its memory, which that process may read and write. Not none: perhaps a part of them;
  // refused: none of them.
  [[nodiscard]] ReadFault read(const portals::Buffer& mine, std::uint64_t address);
  [[nodiscard]] ReadFault write(const portals::Buffer& mine, std::uint64_t address);
  // The same between pieces of any memory; `theirs` are its addresses, never used here. Requires: as many bytes on both
  // sides.
  [[nodiscard]] ReadFault read(const portals::Region& mine, const portals::Region& theirs);
  [[nodiscard]] ReadFault write(const portals::Region& mine, const portals::Region& theirs);

 private:
  enum class Direction : std::uint8_t { read, write };
  static constexpr int kNotOpened = -1;
  static constexpr int kRefused = -2;
  // Above, the second copy costs more than the file saves.
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
