#include "sim/machine/mapping.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "portals/base/assert.hpp"

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

namespace {

// The mapped files of this process, with the number of their owners: ranks of one process share a mapping, so that
// their memory has one address, as thread sanitizer requires. A file by its identity, because each rank may have a
// descriptor of its own.
struct MappedFile {
  dev_t device;
  ino_t file;
  std::span<std::byte> bytes;
  std::uint32_t owners;
};

struct MappedFiles {
  std::mutex mutex;
  std::vector<MappedFile> all;
};

// Never destroyed, because mappings may end after the objects of this file.
MappedFiles& mapped_files() {
  static MappedFiles* const files = new MappedFiles;
  return *files;
}

// Whether an owner of these bytes may unmap them: the last one, or that of no file. Requires: the mutex is locked.
bool ends_with_owner(MappedFiles& files, const std::byte* base) {
  const auto at = std::ranges::find_if(files.all, [base](const MappedFile& each) { return each.bytes.data() == base; });
  if (at == files.all.end()) return true;
  if (--at->owners != 0) return false;
  files.all.erase(at);
  return true;
}

}  // namespace

Mapping::~Mapping() {
  if (bytes_.empty()) return;
  MappedFiles& files = mapped_files();
  // Unmapped under the mutex, so that no other mapping has this address while it is in the list.
  const std::lock_guard guard(files.mutex);
  if (ends_with_owner(files, bytes_.data())) munmap(bytes_.data(), bytes_.size());
}

portals::Status Mapping::map(int descriptor, std::uint64_t bytes, Mapping& out) {
  struct stat about {};
  if (fstat(descriptor, &about) != 0 || static_cast<std::uint64_t>(about.st_size) < bytes) {
    return portals::Status::error("the shared segment has " + std::to_string(about.st_size) + " bytes, " +
                                  std::to_string(bytes) +
                                  " are needed: launcher and library are of different versions");
  }
  // Declared before the guard, because its destruction, with the former mapping of `out`, locks the mutex.
  Mapping mapping;
  {
    MappedFiles& files = mapped_files();
    const std::lock_guard guard(files.mutex);
    const auto known = std::ranges::find_if(files.all, [&](const MappedFile& each) {
      return each.device == about.st_dev && each.file == about.st_ino && each.bytes.size() == bytes;
    });
    if (known != files.all.end()) {
      ++known->owners;
      mapping.bytes_ = known->bytes;
    } else {
      portals::Status status =
          take(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), bytes, mapping.bytes_);
      if (!status.ok()) return status;
      files.all.push_back({about.st_dev, about.st_ino, mapping.bytes_, 1});
    }
  }
  out = std::move(mapping);
  return {};
}

portals::Status Mapping::anonymous(std::uint64_t bytes, Mapping& out) {
  Mapping mapping;
  portals::Status status =
      take(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), bytes,
           mapping.bytes_);
  out = std::move(mapping);
  return status;
}

namespace {

using portals::Status;

struct Listed {
  std::uint64_t bytes;
  int descriptor;
  std::uint64_t offset;
  // device and file: the file's identity, because the program may have closed the descriptor and its number may have
  // been reused.
  dev_t device;
  ino_t file;
  // false in a child of fork(), where the range is private. The child's own children get copies by fork() itself.
  bool is_shared;
};

struct RangeList {
  std::mutex mutex;
  std::map<std::byte*, Listed> ranges;  // by address
  // The error of pthread_atfork; 0: there was none. After an error SharedRange::map() always fails.
  int refused = 0;
};

RangeList& range_list();

void* map_at(std::byte* base, const Listed& range, int protection, int flags) {
  return ::mmap(base, range.bytes, protection, flags | MAP_FIXED | MAP_NORESERVE, range.descriptor,
                static_cast<off_t>(range.offset));
}

// Replaces a shared mapping in a child; a range that cannot be replaced is unmapped.
void make_private(std::byte* base, const Listed& range) {
  struct stat about {};
  // The descriptor may refer to another file by now.
  const bool same =
      ::fstat(range.descriptor, &about) == 0 && about.st_dev == range.device && about.st_ino == range.file;
  // The second attempt maps the range read-only, because a limit on private writable memory (strict overcommit) does
  // not count read-only mappings.
  if (!same || (map_at(base, range, PROT_READ | PROT_WRITE, MAP_PRIVATE) == MAP_FAILED &&
                map_at(base, range, PROT_READ, MAP_PRIVATE) == MAP_FAILED)) {
    ::munmap(base, range.bytes);
    return;
  }
  static_cast<void>(::madvise(base, range.bytes, MADV_DONTDUMP));
}

void before_fork() {
  range_list().mutex.lock();
}

void after_fork() {
  range_list().mutex.unlock();
}

// Uses only what is permitted after fork() in a process with several threads: no memory is allocated or freed here.
void in_child() {
  for (auto& [base, range] : range_list().ranges) {
    if (range.is_shared) make_private(base, range);
    range.is_shared = false;
  }
  range_list().mutex.unlock();
}

// The list is never destroyed, because objects that live until the process's end remove their ranges from it.
RangeList& range_list() {
  static RangeList* const list = [] {
    auto* const made = new RangeList;
    made->refused = ::pthread_atfork(&before_fork, &after_fork, &in_child);
    return made;
  }();
  return *list;
}

Status refuse_range(std::uint64_t bytes, int error) {
  return Status::error("cannot map " + std::to_string(bytes) + " bytes of window memory: " + std::strerror(error) +
                       "; see the limits on memory and address space (ulimit -v)");
}

// Reserves `bytes` of unused addresses; MAP_FAILED: refused. If the range is long enough for huge pages, its address
// equals `offset` modulo the size of a huge page, so that huge pages of the file can be mapped there.
void* reserve(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t slack = bytes < kHugeMinBytes ? 0 : kHugePageBytes;
  void* const got = ::mmap(nullptr, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED || slack == 0) return got;
  auto* const begin = static_cast<std::byte*>(got);
  const std::uint64_t before = (offset - reinterpret_cast<std::uintptr_t>(begin)) % kHugePageBytes;
  // Unmaps the slack around the aligned range, so that a range takes no more addresses than its length.
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, slack - before);
  return begin + before;
}

}  // namespace

SharedRange::~SharedRange() {
  if (base_ == nullptr) return;
  // The range is unmapped and removed under the list's lock, so that no fork() happens between the two steps.
  RangeList& list = range_list();
  const std::lock_guard hold(list.mutex);
  list.ranges.erase(base_);
  ::munmap(base_, bytes_);
}

Status SharedRange::map(int descriptor, std::uint64_t offset, std::uint64_t bytes, SharedRange& out) {
  MARGAY_ASSERT(bytes != 0);
  RangeList& list = range_list();
  if (list.refused != 0) return refuse_range(bytes, list.refused);
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return refuse_range(bytes, errno);
  const Listed range{bytes, descriptor, offset, about.st_dev, about.st_ino, true};
  SharedRange mapped;
  {
    // A fork() between the mapping and its entry in the list would leave the child with a shared range.
    const std::lock_guard hold(list.mutex);
    void* const base = reserve(offset, bytes);
    if (base == MAP_FAILED) return refuse_range(bytes, errno);
    if (map_at(static_cast<std::byte*>(base), range, PROT_READ | PROT_WRITE, MAP_SHARED) == MAP_FAILED) {
      const int error = errno;
      ::munmap(base, bytes);
      return refuse_range(bytes, error);
    }
    mapped.base_ = static_cast<std::byte*>(base);
    mapped.bytes_ = bytes;
    list.ranges.emplace(mapped.base_, range);
  }
  static_cast<void>(::madvise(mapped.base_, bytes, MADV_DONTDUMP));
  out = std::move(mapped);
  return {};
}

}  // namespace margay::sim
