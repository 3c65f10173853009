#include "mpi/info/table.hpp"

#include <memory>
#include <utility>

#include "mpi/call/call.hpp"
#include "mpi_adi/object/handle_table.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi {

// The table, a part of the process: it exists from its first use until the process ends.
struct InfoTable final : ProcessPart {
  static constexpr PartSlot kSlot = PartSlot::infos;
  InfoTable() = default;
  ~InfoTable() override {
    for (Info* info : table.alive()) delete info;
  }
  std::mutex mutex;
  HandleTable<Info> table{ObjectType::info};
  std::optional<JobFacts> facts;  // once MPI has begun
  Info environment;
  bool environment_is_whole = false;  // `environment` was made with the facts
};

InfoAccess::InfoAccess() : infos_(current_process().part<InfoTable>()), lock_(infos_.mutex) {}

Info* InfoAccess::find(MPI_Info handle) const {
  if (handle != MPI_INFO_ENV) return infos_.table.find(handle);
  // Made again once MPI has begun, which adds the job's facts.
  if (!infos_.environment_is_whole) {
    infos_.environment = environment(0, nullptr);
    infos_.environment_is_whole = infos_.facts.has_value();
  }
  return &infos_.environment;
}

Info InfoAccess::environment(int argc, char** argv) const {
  return environment_info(argc, argv, infos_.facts ? *infos_.facts : facts_of_environment());
}

void InfoAccess::record_job(const sim::Job& job) const {
  infos_.facts = {job.program_ranks != 0 ? job.program_ranks : job.world_size(),
                  job.options.text("initial_errhandler")};
}

void InfoAccess::remove(Info& info) const {
  // Deletes the object after its handle has left the table.
  const std::unique_ptr<Info> last(&info);
  infos_.table.remove(info.handle);
}

MPI_Info InfoAccess::add(Info&& info) const {
  auto made = std::make_unique<Info>(std::move(info));
  made->handle = infos_.table.add(*made);
  return made->handle == 0 ? MPI_INFO_NULL : made.release()->handle;
}

std::vector<MPI_Info> InfoAccess::living() const {
  std::vector<MPI_Info> handles;
  for (const Info* info : infos_.table.alive()) handles.push_back(info->handle);
  return handles;
}

std::optional<Info> copy_of_info(MPI_Info handle) {
  const InfoAccess infos;
  const Info* found = infos.find(handle);
  return found == nullptr ? std::nullopt : std::optional<Info>(*found);
}

// Origins are recorded only while MPI runs.
MPI_Info add_info(Info&& info) {
  const InfoAccess infos;
  const MPI_Info handle = infos.add(std::move(info));
  MpiRank* const rank = current_rank();
  // For the list of leaks: the call that made it.
  if (handle != MPI_INFO_NULL && rank != nullptr) rank->handles().record_origin(handle);
  return handle;
}

std::vector<MPI_Info> living_infos() {
  return InfoAccess().living();
}

std::string bad_info_text(MPI_Info handle) {
  if (handle == MPI_INFO_NULL) return "the info object is MPI_INFO_NULL";
  return "info " + in_hex(handle) + " is not a valid info object (freed, or never created)";
}

// For calls that use no hint, but must reject an invalid object.
void check_hints(Call& call, MPI_Info handle) {
  if (handle == MPI_INFO_NULL) return;
  const bool living = InfoAccess().find(handle) != nullptr;
  if (!living) call.error(MPI_ERR_INFO, bad_info_text(handle));
}

}  // namespace margay::mpi
