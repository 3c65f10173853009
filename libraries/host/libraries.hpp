// The communication libraries of one process, and their way into its rank: what host::join() and Rank::end() do beside
// the library's own part (part.hpp).
//
// The first user of the rank, a library or MPI, starts the simulated machine, and the last one stops it; each library
// holds it from join() to leave(). A thread that is a rank (`margay run --threads`) has libraries of its own.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "libraries/host/part.hpp"
#include "mpi_adi/rank/mpi_process.hpp"

namespace margay::libraries {

// The libraries that have joined the rank of one process, in a part of the process's state. Any thread may call.
class Libraries final : public mpi_adi::ProcessPart {
 public:
  static constexpr mpi_adi::PartSlot kSlot = mpi_adi::PartSlot::libraries;

  // See host::join(). Holds the rank for the library. `caller`: the place in the program, for reports. On an error,
  // `out` is unchanged and the library holds nothing.
  [[nodiscard]] portals::Status join(const host::Library& library, bool threads, const void* caller, host::Rank*& out);
  // Deletes the library's part, and gives up its hold on the rank. Requires: outside the rank.
  void leave(Part& part);

 private:
  // Fails for a description that no library may have, and for portals that are not free.
  [[nodiscard]] portals::Status check(const host::Library& library) const;
  // The place on the job board for a library of this name: its earlier place if it joins again. Requires: not all
  // places are taken.
  [[nodiscard]] std::size_t slot_for(mpi_adi::MpiRank& rank, std::string_view library) const;

  // Guards parts_. Taken before the process lock of the rank, never inside it.
  mutable std::mutex mutex_;
  // In the order of join(); at most host::kLibrariesMost.
  std::vector<std::unique_ptr<Part>> parts_;
};

// The libraries of the calling thread's process.
[[nodiscard]] Libraries& the_libraries();

}  // namespace margay::libraries
