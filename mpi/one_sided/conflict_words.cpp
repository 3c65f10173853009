#include "mpi/one_sided/conflict_words.hpp"

#include "mpi/call/call.hpp"
#include "mpi_adi/op/names.hpp"

namespace margay::mpi {

namespace {

std::string bytes_word(const ByteRange& range) {
  return "bytes " + std::to_string(range.begin) + " to " + std::to_string(range.end);
}

std::string elements_word(const AnnouncedAccess& access) {
  const bool one = access.type != 0 && access.type != MPI_DATATYPE_NULL;
  return one ? type_word(access.type) : "elements of several types";
}

// "puts MPI_INT into bytes 0 to 4"
std::string deed(const AnnouncedAccess& access, const ByteRange& range) {
  const std::string elements = elements_word(access);
  const std::string bytes = bytes_word(range);
  switch (access.kind) {
    case AccessKind::put:
      return "puts " + elements + " into " + bytes;
    case AccessKind::get:
      return "gets " + elements + " from " + bytes;
    case AccessKind::accumulate:
      break;
  }
  if (access.op == MPI_OP_NULL) return "compares and swaps " + elements + " in " + bytes;
  return "accumulates " + elements + " with " + operation_word(access.op) + " in " + bytes;
}

std::string advice(const Conflict& conflict, const AnnouncedAccess& second) {
  if (conflict.clash == Clash::types) return "accumulates of the same bytes are of one predefined datatype";
  if (conflict.clash == Clash::operations) {
    return "accumulates of the same bytes are of one operation, besides MPI_NO_OP where the hint accumulate_ops is "
           "same_op_no_op";
  }
  const bool own = conflict.first.origin == second.origin;
  switch (second.epoch) {
    case EpochKind::fence:
      return "let MPI_Win_fence part them";
    case EpochKind::exposure:
      return "let the target's MPI_Win_wait part them";
    case EpochKind::passive:
      break;
  }
  return own ? "call MPI_Win_flush between them"
             : "take MPI_LOCK_EXCLUSIVE, or begin the second when the first's rank has said that MPI_Win_flush is over";
}

}  // namespace

std::string words_of_window(const Window& window) {
  const std::string& name = window.communicator->name;
  return "window " + in_hex(window.handle) + (name.empty() ? "" : " (" + name + ")");
}

std::string words_of_conflict(const Conflict& conflict, const AnnouncedAccess& second, const ConflictPlace& place) {
  const bool own = conflict.first.origin == second.origin;
  return "rank " + std::to_string(second.origin) + " " + deed(second, conflict.second_range) + " of rank " +
         std::to_string(place.target) + " in " + place.window + ", where " +
         (own ? "it" : "rank " + std::to_string(conflict.first.origin)) + " " +
         deed(conflict.first, conflict.first_range) + " by " + place.first_call +
         ", which is not complete: " + advice(conflict, second);
}

std::string words_of_own_conflict(const Conflict& conflict, const AnnouncedAccess& second, const AnnouncedAccess& told,
                                  const std::string& first_call) {
  const auto side = [](const AnnouncedAccess& access) {
    return access.kind == AccessKind::put ? std::string("writes") : std::string("reads");
  };
  char memory[64];
  std::snprintf(memory, sizeof memory, "0x%llx to 0x%llx", static_cast<unsigned long long>(conflict.second_range.begin),
                static_cast<unsigned long long>(conflict.second_range.end));
  const char* const wait = told.epoch == EpochKind::passive ? "call MPI_Win_flush_local between them"
                           : told.epoch == EpochKind::fence ? "let MPI_Win_fence part them"
                                                            : "let MPI_Win_complete part them";
  return "with rank " + std::to_string(second.origin) + " as target it " + side(second) + " the origin's memory " +
         memory + ", which " + first_call + " with rank " + std::to_string(conflict.first.origin) + " as target " +
         side(conflict.first) + " and has not given back: " + wait;
}

}  // namespace margay::mpi
