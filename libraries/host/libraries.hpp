// The communication libraries of one process, and their way into its rank.
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

  // See host::join(). Holds the rank for the library.
  [[nodiscard]] portals::Status join(const host::Library& library, bool threads, const void* caller, host::Rank*& out);
  // Deletes the library's part, and gives up its hold on the rank. Requires: outside the rank.
  void leave(Part& part);

 private:
  // Fails for a description that no library may have, and for portals that are not free.
  [[nodiscard]] portals::Status check(const host::Library& library) const;
  // The place on the job board for a library of this name: its earlier place if it joins again. Requires: not all
  // places are taken.
  [[nodiscard]] std::size_t slot_for(mpi_adi::MpiRank& rank, std::string_view library) const;

  // Guards parts_.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Part>> parts_;
};

// The libraries of the calling thread's process.
[[nodiscard]] Libraries& the_libraries();

}  // namespace margay::libraries
