#include "sim/trace/own_mapping.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace margay::sim {

using portals::Status;

namespace {

// The list of these pages. It is global, because the functions of pthread_atfork have no argument.
struct OwnPages {
  std::mutex mutex;
  std::map<void*, std::uint64_t> bytes;  // by address
  // The error of pthread_atfork; 0: none.
  int refused = 0;
};

OwnPages& own_pages();

void lock_own_pages() {
  own_pages().mutex.lock();
}

void unlock_own_pages() {
  own_pages().mutex.unlock();
}

// Uses only what is permitted after fork() in a process with several threads: no memory is allocated or freed here.
void replace_in_child() {
  for (const auto& [pages, bytes] : own_pages().bytes) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    if (mmap(pages, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0) == MAP_FAILED) munmap(pages, bytes);
  }
  own_pages().mutex.unlock();
}

// The list is never destroyed, because recorders that live until the process's end remove their pages from it.
OwnPages& own_pages() {
  static OwnPages* const list = [] {
    auto* const made = new OwnPages;
    made->refused = pthread_atfork(&lock_own_pages, &unlock_own_pages, &replace_in_child);
    return made;
  }();
  return *list;
}

}  // namespace

Status keep_from_children(void* pages, std::uint64_t bytes) {
  OwnPages& list = own_pages();
  if (list.refused != 0) {
    return Status::error(std::string("trace: children of fork() cannot be kept from the file: ") +
                         std::strerror(list.refused));
  }
  const std::lock_guard hold(list.mutex);
  // The entry is made under the lock that fork() takes, so a child sees either no entry or a complete one.
  list.bytes[pages] = bytes;
  return {};
}

void remove_own_pages(void* pages) {
  OwnPages& list = own_pages();
  const std::lock_guard hold(list.mutex);
  list.bytes.erase(pages);
}

}  // namespace margay::sim
