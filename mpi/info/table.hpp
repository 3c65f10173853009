// The info objects of the calling thread's process. MPI 4.0 (11.4.1) lets them be made and read before MPI_Init, so
// they can belong to no rank. A lock of their own guards them.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpi/layers.hpp"
#include "mpi_adi/object/info.hpp"
#include "sim/boot/job.hpp"

namespace margay::mpi {

class Call;
struct InfoTable;

// What MPI_INFO_ENV has of the job.
struct JobFacts {
  std::uint32_t program_ranks = 0;  // 0: unknown
  std::string initial_handler;
};

// A copy of what the handle names, MPI_INFO_ENV too; nullopt: no living info object.
[[nodiscard]] std::optional<Info> copy_of_info(MPI_Info handle);
// MPI_INFO_NULL: the table is full (2^18 objects alive).
[[nodiscard]] MPI_Info add_info(Info&& info);
// Those that the program made and has not freed.
[[nodiscard]] std::vector<MPI_Info> living_infos();
// What to say of a handle that names none.
[[nodiscard]] std::string words_of_bad_info(MPI_Info handle);

// An info argument that may be MPI_INFO_NULL and of which nothing is used: an error unless it is one.
void check_hints(Call& call, MPI_Info handle);

// The table, locked. Nothing that may call the user's functions while one lives.
class InfoAccess {
 public:
  InfoAccess();
  // nullptr: no living info object. MPI_INFO_ENV is one, and must not be changed.
  [[nodiscard]] Info* find(MPI_Info handle) const;
  // Requires: found, and not MPI_INFO_ENV.
  void remove(Info& info) const;
  // MPI_INFO_NULL: the table is full.
  [[nodiscard]] MPI_Info add(Info&& info) const;
  [[nodiscard]] std::vector<MPI_Info> living() const;
  // The contents of MPI_INFO_ENV, with a command line of the program's.
  [[nodiscard]] Info environment(int argc, char** argv) const;
  // MPI begins: what the job says, from now on and after MPI's end.
  void note_job(const sim::Job& job) const;

 private:
  InfoTable& infos_;
  std::unique_lock<std::mutex> lock_;
};

// The contents of MPI_INFO_ENV (MPI 4.0, 11.2.1), as far as they are known: command, argv, maxprocs, host, arch, wdir.
// Without a word in `argv`: the process's own.
[[nodiscard]] Info environment_info(int argc, char** argv, const JobFacts& facts);
// Before MPI begins: what margay's launcher put into the environment. Of a foreign launcher's job the number of ranks
// that run this program is unknown until then, as there may be several programs.
[[nodiscard]] JobFacts facts_of_environment();

}  // namespace margay::mpi
