#include <doctest/doctest.h>

#include <map>
#include <string>

#include "sim/boot/join.hpp"

namespace {

std::map<std::string, std::string>& variables() {
  static std::map<std::string, std::string> set;
  return set;
}

const char* look_up(const char* name) {
  const auto it = variables().find(name);
  return it == variables().end() ? nullptr : it->second.c_str();
}

std::string complaint(std::map<std::string, std::string> set) {
  variables() = std::move(set);
  return margay::sim::refuse_foreign_launcher(look_up).sentence();
}

}  // namespace

TEST_CASE("launchers that margay does not support are named") {
  CHECK(complaint({{"OMPI_COMM_WORLD_SIZE", "4"}}).find("Open MPI") != std::string::npos);
  CHECK(complaint({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}).find("srun --mpi=pmi2") != std::string::npos);
  CHECK(complaint({{"PMIX_RANK", "0"}}).find("PMIx") != std::string::npos);
  CHECK(complaint({{"PMI_SIZE", "2"}}).find("PMI_FD") != std::string::npos);
  CHECK_FALSE(complaint({{"PMI_PORT", "h:1"}}).empty());
}

TEST_CASE("a single process is not an error") {
  CHECK(complaint({}).empty());
  CHECK(complaint({{"OMPI_COMM_WORLD_SIZE", "1"}}).empty());
  CHECK(complaint({{"SLURM_NTASKS", "8"}}).empty());  // inside an allocation, not started by srun
  CHECK(complaint({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}).empty());
  CHECK(complaint({{"OMPI_COMM_WORLD_SIZE", "4"}, {"MARGAY_ALONE", "1"}}).empty());
}
