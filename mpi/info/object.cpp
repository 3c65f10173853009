// Creation, copying and release of info objects (MPI 4.0, chapter 10).
#include <optional>
#include <utility>

#include "mpi/call/binding.hpp"
#include "mpi/info/arguments.hpp"

using namespace margay::mpi;

namespace {

// Adds the object to the table and returns its handle to the program.
int hand_out(EarlyCall& call, Info&& made, MPI_Info* info) {
  const MPI_Info handle = add_info(std::move(made));
  if (handle == MPI_INFO_NULL) {
    call.error(MPI_ERR_OTHER, "too many info objects are alive (2^18); free some first");
  } else {
    *info = handle;
  }
  return call.done();
}

}  // namespace

extern "C" int PMPI_Info_create(MPI_Info* info) {
  EarlyCall call(call_name<"MPI_Info_create">);
  call.not_null(info, "info");
  return call.ok() ? hand_out(call, Info{}, info) : call.failed();
}
MARGAY_ALIAS(Info_create)

extern "C" int PMPI_Info_create_env(int argc, char* argv[], MPI_Info* info) {
  EarlyCall call(call_name<"MPI_Info_create_env">);
  call.not_null(info, "info");
  if (!call.ok()) return call.failed();
  Info environment = InfoAccess().environment(argc, argv);
  return hand_out(call, std::move(environment), info);
}
MARGAY_ALIAS(Info_create_env)

extern "C" int PMPI_Info_dup(MPI_Info info, MPI_Info* newinfo) {
  EarlyCall call(call_name<"MPI_Info_dup">);
  call.not_null(newinfo, "newinfo");
  // Any valid object, also MPI_INFO_ENV: the copy can be changed.
  std::optional<Info> copy = copy_of_info(info);
  if (!copy) call.error(MPI_ERR_INFO, bad_info_text(info));
  return call.ok() ? hand_out(call, std::move(*copy), newinfo) : call.failed();
}
MARGAY_ALIAS(Info_dup)

extern "C" int PMPI_Info_free(MPI_Info* info) {
  EarlyCall call(call_name<"MPI_Info_free">);
  call.not_null(info, "info");
  if (!call.ok()) return call.failed();
  {
    // A scope, because errors must be raised after the table is unlocked.
    const InfoAccess infos;
    Info* const found = find_own_info(call, infos, *info);
    if (found != nullptr) infos.remove(*found);
  }
  if (call.ok()) *info = MPI_INFO_NULL;
  return call.done();
}
MARGAY_ALIAS(Info_free)
