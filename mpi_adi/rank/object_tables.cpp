#include "mpi_adi/rank/object_tables.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rank/mpi_process.hpp"

namespace margay::mpi_adi {

// Every process can print, so MPI_IO is MPI_ANY_SOURCE. MPI_Wtime reads one clock per host, which emulated nodes share.
Inquiries::Inquiries(const sim::Job& job)
    : tag_upper_bound(kUserTagMax),
      host(MPI_PROC_NULL),
      io(MPI_ANY_SOURCE),
      time_is_global(job.node_count == 1 || job.nodes_are_emulated ? 1 : 0),
      universe_size(job.universe_size),
      appnum(static_cast<int>(job.appnum)) {}

int* Inquiries::find(int keyval, int last_used_code) {
  switch (keyval) {
    case MPI_TAG_UB:
      return &tag_upper_bound;
    case MPI_HOST:
      return &host;
    case MPI_IO:
      return &io;
    case MPI_WTIME_IS_GLOBAL:
      return &time_is_global;
    case MPI_UNIVERSE_SIZE:
      // The standard has no value for an unknown size, so the attribute is not set then.
      return universe_size < 0 ? nullptr : &universe_size;
    case MPI_APPNUM:
      return &appnum;
    case MPI_LASTUSEDCODE:
      // The only value that changes; its address is constant.
      last_code = last_used_code;
      return &last_code;
    default:
      return nullptr;
  }
}

namespace {

struct HandlersPart final : ProcessPart {
  static constexpr PartSlot kSlot = PartSlot::error_handlers;
  ErrorHandlers handlers;
};

}  // namespace

ErrorHandlers& process_error_handlers() {
  return current_process().part<HandlersPart>().handlers;
}

}  // namespace margay::mpi_adi
