#include "sim/boot/foreign.hpp"

#include <string>

#include "sim/boot/parse_number.hpp"

namespace margay::sim {
namespace {

using portals::Status;

struct Sign {
  const char* size_variable;  // number of processes; null: `mark` alone is enough
  const char* mark;           // must be set too; null: no more is needed
  const char* launcher;
};

constexpr Sign kSigns[] = {
    {"OMPI_COMM_WORLD_SIZE", nullptr, "Open MPI's mpirun"},
    {"MV2_COMM_WORLD_SIZE", nullptr, "MVAPICH's launcher"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "Slurm's srun without PMI (try srun --mpi=pmi2)"},
    {"SLURM_NTASKS", "SLURM_PROCID", "Slurm's srun without PMI (try srun --mpi=pmi2)"},
    {"PMI_SIZE", nullptr, "a launcher that gave PMI_SIZE but no PMI_FD"},
    {"JSM_NAMESPACE_SIZE", nullptr, "IBM's jsrun"},
    {nullptr, "PMI_PORT", "a launcher that speaks PMI over a port (PMI_PORT)"},
    {nullptr, "PMIX_RANK", "a launcher that speaks PMIx only"},
    {nullptr, "PALS_RANKID", "Cray's PALS"},
    {nullptr, "ALPS_APP_PE", "Cray's ALPS"},
};

bool is_started_by(const Sign& sign, Environment environment) {
  if (sign.mark != nullptr && environment(sign.mark) == nullptr) return false;
  if (sign.size_variable == nullptr) return true;
  const char* text = environment(sign.size_variable);
  unsigned size = 0;
  return text != nullptr && parse_number(std::string_view(text), size) && size > 1;
}

}  // namespace

Status refuse_foreign_launcher(Environment environment) {
  if (environment("MARGAY_ALONE") != nullptr) return {};
  for (const Sign& sign : kSigns) {
    if (!is_started_by(sign, environment)) continue;
    const char* variable = sign.size_variable != nullptr ? sign.size_variable : sign.mark;
    return Status::error(std::string("this program uses margay's MPI, but was started by ") + sign.launcher + " (" +
                         variable + "=" + environment(variable) +
                         "), which margay cannot talk to; start it with `margay run` or MPICH's mpiexec, or set "
                         "MARGAY_ALONE=1 to run each process as a job of one rank");
  }
  return {};
}

}  // namespace margay::sim
