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
#include "sim/base/loaded_module.hpp"
#include "sim/base/source_lines.hpp"

namespace margay::mpi_adi {

struct UserRequest;

// A call of the program's.
struct Origin {
  std::string_view function;  // empty: none that was seen
  sim::SourcePlace place;     // of the call; it stays what it is when the file is closed
};

// From any thread, as calls are that need no rank. Names live as long as the program.
class Origins {
 public:
  // The calling thread's calls, one in the other where a function of the program's calls MPI.
  // `caller`: where it returns to.
  void enter(std::string_view function, const void* caller);
  void leave();

  // The call that the calling thread is in made it. A later object with the same handle takes its place.
  void note(Handle handle);
  void note(const UserRequest& request);

  // Without a function: made outside of any call that was seen.
  [[nodiscard]] Origin of(Handle handle) const;
  [[nodiscard]] Origin of(const UserRequest& request) const;
  // Where all that was ever made was made.
  [[nodiscard]] std::vector<sim::SourcePlace> places() const;
  // Whether the object was not told before: it stays while MPI is dormant, and is told at one end alone.
  [[nodiscard]] bool tell(Handle handle);

 private:
  struct Entered {
    std::string_view function;
    const void* caller = nullptr;
  };
  // With the lock.
  [[nodiscard]] Origin current();

  mutable std::mutex mutex_;
  std::unordered_map<std::thread::id, std::vector<Entered>> calls_;
  sim::LoadedModules modules_;
  std::unordered_map<Handle, Origin> by_handle_;
  std::unordered_map<const UserRequest*, Origin> by_request_;
  std::unordered_set<Handle> told_;
};

}  // namespace margay::mpi_adi
