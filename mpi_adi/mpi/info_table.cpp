#include "mpi_adi/mpi/info_table.hpp"

#include <memory>
#include <utility>

#include "mpi_adi/mpi/call.hpp"
#include "mpi_adi/object/handle_table.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

namespace {

struct Infos {
  std::mutex mutex;
  HandleTable<Info> table{ObjectType::info};
  Info environment;
  bool environment_is_whole = false;
};

// Never destroyed: a program may free its objects as late as it likes.
Infos& the_infos() {
  static Infos& infos = *new Infos();
  return infos;
}

}  // namespace

InfoAccess::InfoAccess() : lock_(the_infos().mutex) {}

Info* InfoAccess::find(MPI_Info handle) const {
  Infos& infos = the_infos();
  if (handle != MPI_INFO_ENV) return infos.table.find(handle);
  if (!infos.environment_is_whole) {
    MpiRank* const rank = current_rank();  // once: another thread may begin MPI meanwhile
    infos.environment = environment_info(0, nullptr, rank);
    infos.environment_is_whole = rank != nullptr;
  }
  return &infos.environment;
}

void InfoAccess::remove(Info& info) const {
  const std::unique_ptr<Info> last(&info);
  the_infos().table.remove(info.handle);
}

std::optional<Info> copy_of_info(MPI_Info handle) {
  const InfoAccess infos;
  const Info* found = infos.find(handle);
  return found == nullptr ? std::nullopt : std::optional<Info>(*found);
}

MPI_Info add_info(Info&& info) {
  const InfoAccess locked;
  auto made = std::make_unique<Info>(std::move(info));
  made->handle = the_infos().table.add(*made);
  if (made->handle == 0) return MPI_INFO_NULL;
  if (MpiRank* const rank = current_rank(); rank != nullptr) rank->note_origin(made->handle);
  return made.release()->handle;
}

std::vector<MPI_Info> living_infos() {
  const InfoAccess locked;
  std::vector<MPI_Info> handles;
  for (const Info* info : the_infos().table.alive()) handles.push_back(info->handle);
  return handles;
}

std::string words_of_bad_info(MPI_Info handle) {
  if (handle == MPI_INFO_NULL) return "the info object is MPI_INFO_NULL";
  return "info " + in_hex(handle) + " is no living info object (freed, or never made)";
}

void check_hints(Call& call, MPI_Info handle) {
  if (handle == MPI_INFO_NULL) return;
  const bool living = InfoAccess().find(handle) != nullptr;
  if (!living) call.error(MPI_ERR_INFO, words_of_bad_info(handle));
}

}  // namespace margay::mpi_adi
