// The info objects of the process. MPI 4.0 (11.4.1) allows their use before MPI_Init, so they belong to no rank, and a
// lock of their own guards them.
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

// The facts of the job that MPI_INFO_ENV shows.
struct JobFacts {
  std::uint32_t program_ranks = 0;  // ranks of this program; 0: unknown
  std::string initial_handler;
};

// A copy of an info object, also of MPI_INFO_ENV; nullopt if the handle is invalid.
[[nodiscard]] std::optional<Info> copy_of_info(MPI_Info handle);
// Adds an object and returns its handle; MPI_INFO_NULL if the table is full (2^18 objects).
[[nodiscard]] MPI_Info add_info(Info&& info);
// Objects that the program has made and not freed.
[[nodiscard]] std::vector<MPI_Info> living_infos();
// The message for an invalid handle (MPI_ERR_INFO).
[[nodiscard]] std::string bad_info_text(MPI_Info handle);

// Checks an info argument whose hints are not used: MPI_INFO_NULL and valid objects are accepted, any other handle is
// MPI_ERR_INFO.
void check_hints(Call& call, MPI_Info handle);

// The table, locked for the object's lifetime. Requires: no function of the program is called meanwhile, as it may use
// info objects.
class InfoAccess {
 public:
  InfoAccess();
  // The object of a handle; null if it is invalid. MPI_INFO_ENV is valid, and must not be changed.
  [[nodiscard]] Info* find(MPI_Info handle) const;
  // Removes and deletes an object; its handle is invalid from then on. Requires: found, and not MPI_INFO_ENV.
  void remove(Info& info) const;
  // Adds an object; MPI_INFO_NULL if the table is full.
  [[nodiscard]] MPI_Info add(Info&& info) const;
  // Handles of all objects but MPI_INFO_ENV.
  [[nodiscard]] std::vector<MPI_Info> living() const;
  // The contents of MPI_INFO_ENV, with the program's command line.
  [[nodiscard]] Info environment(int argc, char** argv) const;
  // Sets the job's facts when MPI begins; they stay valid after MPI's end.
  void record_job(const sim::Job& job) const;

 private:
  InfoTable& infos_;
  std::unique_lock<std::mutex> lock_;
};

// The contents of MPI_INFO_ENV (MPI 4.0, 11.2.1), as far as known: command, argv, maxprocs, mpi_initial_errhandler,
// host, arch, wdir. If `argv` has no token, the process's own command line is used.
[[nodiscard]] Info environment_info(int argc, char** argv, const JobFacts& facts);
// The facts before MPI begins, which margay's launcher has put into the environment. Under another launcher the number
// of ranks of this program is unknown until then, as there may be several programs.
[[nodiscard]] JobFacts facts_of_environment();

}  // namespace margay::mpi
