// A record of the call that made each object or request, for the list of objects that a program never freed
// (MARGAY_LEAKS). It exists only while that check is on.
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

// A call of the program.
struct Origin {
  std::string_view function;     // empty: not recorded
  sim::SourceLocation location;  // of the call; valid after the file is unloaded
};

// The calls in progress, and the makers of objects. Any thread may call, because the class has a lock of its own: some
// MPI calls do not lock the process lock. Function names live as long as the program.
class Origins {
 public:
  // Record that the calling thread enters or leaves an MPI call. Calls nest if a function of the program calls MPI.
  // `caller`: the call's return address.
  void enter(std::string_view function, const void* caller);
  void leave();

  // Records the thread's present call as the maker of an object. A later object with the same handle replaces the
  // earlier one.
  void record(Handle handle);
  void record(const UserRequest& request);

  // The maker; an empty function if the object was made outside of any recorded call.
  [[nodiscard]] Origin of(Handle handle) const;
  // Requests are recorded by their object, because the record is made before a request has a handle
  // (Handles::make_request).
  [[nodiscard]] Origin of(const UserRequest& request) const;
  // The locations of all recorded calls, to resolve their source lines together.
  [[nodiscard]] std::vector<sim::SourceLocation> locations() const;
  // Returns whether the object has not been reported yet, and marks it as reported. MPI may end and resume several
  // times while an object lives; only the first end reports it.
  [[nodiscard]] bool report_once(Handle handle);

 private:
  // A call that some thread has entered and not left.
  struct Entered {
    std::string_view function;
    const void* caller = nullptr;
  };
  // The innermost call of the thread, with the file that contains its return address. The file must be loaded now.
  // Requires: mutex_ is locked.
  [[nodiscard]] Origin current();

  // Guards all below.
  mutable std::mutex mutex_;
  // The calls in progress of each thread, the innermost last.
  std::unordered_map<std::thread::id, std::vector<Entered>> calls_;
  sim::LoadedModules modules_;
  // Entries stay when their object is freed, and are replaced when the handle is reused.
  std::unordered_map<Handle, Origin> by_handle_;
  std::unordered_map<const UserRequest*, Origin> by_request_;
  std::unordered_set<Handle> reported_;
};

}  // namespace margay::mpi_adi
