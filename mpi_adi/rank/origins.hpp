// Which function made an object or a request, for the list of what a program never gave back (MARGAY_LEAKS). Only there
// while that is asked for.
#pragma once

#include <mutex>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mpi_adi/abi/handles.hpp"

namespace margay::mpi_adi {

struct UserRequest;

// From any thread, as calls are that need no rank. Names live as long as the program.
class Origins {
 public:
  // The calling thread's calls, one in the other where a function of the program's calls MPI.
  void enter(const char* name);
  void leave();

  // The call that the calling thread is in made it. A later object with the same handle takes its place.
  void note(Handle handle);
  void note(const UserRequest& request);

  // Empty: made outside of any call that was seen.
  [[nodiscard]] std::string_view of(Handle handle) const;
  [[nodiscard]] std::string_view of(const UserRequest& request) const;
  // Whether the object was not told before: it stays while MPI is dormant, and is told at one end alone.
  [[nodiscard]] bool tell(Handle handle);

 private:
  // With the lock.
  [[nodiscard]] std::string_view current() const;

  mutable std::mutex mutex_;
  std::unordered_map<std::thread::id, std::vector<const char*>> calls_;
  std::unordered_map<Handle, std::string_view> by_handle_;
  std::unordered_map<const UserRequest*, std::string_view> by_request_;
  std::unordered_set<Handle> told_;
};

}  // namespace margay::mpi_adi
