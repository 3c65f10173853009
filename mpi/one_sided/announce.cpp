#include "mpi/one_sided/announce.hpp"

#include <cstdio>
#include <string_view>

#include "mpi/call/call.hpp"
#include "mpi_adi/op/operation.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "mpi_adi/rma/window_request.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/findings.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi {

namespace {

std::string bytes_text(const ByteRange& range) {
  return "bytes [" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

std::string elements_text(const AnnouncedAccess& access) {
  const bool one = access.type != 0 && access.type != MPI_DATATYPE_NULL;
  return one ? type_text(access.type) : "elements of several types";
}

// "puts MPI_INT into bytes [0, 4)"
std::string access_text(const AnnouncedAccess& access, const ByteRange& range) {
  const std::string elements = elements_text(access);
  const std::string bytes = bytes_text(range);
  switch (access.kind) {
    case AccessKind::put:
      return "puts " + elements + " into " + bytes;
    case AccessKind::get:
      return "gets " + elements + " from " + bytes;
    case AccessKind::accumulate:
      break;
  }
  if (access.op == MPI_OP_NULL) return "compares and swaps " + elements + " in " + bytes;
  return "accumulates " + elements + " with " + operation_text(access.op) + " in " + bytes;
}

// The cure: the synchronisation that separates the two accesses in this kind of epoch.
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
             : "take MPI_LOCK_EXCLUSIVE, or begin the second after a message from the first's rank behind its "
               "MPI_Win_flush";
}

}  // namespace

std::string window_text(const Window& window) {
  const std::string& name = window.communicator->name;
  return "window " + in_hex(window.handle) + (name.empty() ? "" : " (" + name + ")");
}

std::string conflict_text(const Conflict& conflict, const AnnouncedAccess& second, const ConflictLocation& location) {
  const bool own = conflict.first.origin == second.origin;
  return "rank " + std::to_string(second.origin) + " " + access_text(second, conflict.second_range) + " of rank " +
         std::to_string(location.target) + " in " + location.window + ", where " +
         (own ? "it" : "rank " + std::to_string(conflict.first.origin)) + " " +
         access_text(conflict.first, conflict.first_range) + " by " + location.first_call +
         ", which is not complete: " + advice(conflict, second);
}

std::string own_conflict_text(const Conflict& conflict, const AnnouncedAccess& second, const AnnouncedAccess& announced,
                              const std::string& first_call) {
  const auto side = [](const AnnouncedAccess& access) {
    return access.kind == AccessKind::put ? std::string("writes") : std::string("reads");
  };
  char memory[64];
  std::snprintf(memory, sizeof memory, "0x%llx to 0x%llx", static_cast<unsigned long long>(conflict.second_range.begin),
                static_cast<unsigned long long>(conflict.second_range.end));
  const char* const wait = announced.epoch == EpochKind::passive ? "call MPI_Win_flush_local between them"
                           : announced.epoch == EpochKind::fence ? "let MPI_Win_fence part them"
                                                                 : "let MPI_Win_complete part them";
  return "with rank " + std::to_string(second.origin) + " as target it " + side(second) + " the origin's memory " +
         memory + ", which " + first_call + " with rank " + std::to_string(conflict.first.origin) + " as target " +
         side(conflict.first) + " and still uses: " + wait;
}

namespace {

// A loop may repeat one mistake thousands of times; each is still recorded as a finding.
constexpr std::uint32_t kConflictsPrintedMax = 100;  // of conflicts that do not end the job

EpochKind epoch_of(const Window& window, const WindowTarget& target) {
  if (window.lock_all || target.lock != LockKind::none) return EpochKind::passive;
  return window.starts && target.in_start ? EpochKind::exposure : EpochKind::fence;
}

// A description of the access that its target can use without this rank's objects.
AnnouncedAccess announcement_of(Call& call, Window& window, const Access& access, const AccessNature& nature) {
  AnnouncedAccess announced;
  announced.number = ++window.check->last_number;
  announced.origin = window.rank();
  announced.kind = nature.kind;
  announced.epoch = epoch_of(window, window.target(access.target));
  announced.fences = window.check->fences;
  const Datatype& type = *access.target_type;
  announced.type = type.predefined ? type.handle : type.definition->basic();
  if (nature.operands != nullptr) {
    announced.op = nature.operands->compare != nullptr ? MPI_OP_NULL : nature.operands->op;
    announced.type = nature.operands->type;
  }
  read_hints(window, announced);
  // A request-based read is complete with its request: its data has arrived.
  announced.ends_alone = nature.with_request && announced.reads();
  std::string_view(call.name()).copy(announced.call, sizeof announced.call - 1);
  announced.location = sim::source_location(call.rank().caller());
  return announced;
}

// The earlier access's function and source line. `location` is an offset in a file, so this process can look it up
// although another process made the call.
std::string first_call(Call& call, const Conflict& conflict) {
  return conflict.first.call + call.rank().process().source_lines().location_suffix(conflict.first.location);
}

// Records the finding, prints it unless it ends the job anyway, and sets the call's error.
void report_conflict(Call& call, const Window& window, std::string sentence) {
  const ErrorHandlerPtr& handler = window.communicator->error_handler;
  const bool fatal = handler == nullptr || (handler->function == nullptr && (handler->handle == MPI_ERRORS_ARE_FATAL ||
                                                                             handler->handle == MPI_ERRORS_ABORT));
  sim::Process& process = call.rank().process();
  if (fatal || window.check->lines < kConflictsPrintedMax) {
    const std::string site = process.source_lines().location_suffix(call.rank().caller());
    sim::FindingRecord found;
    sim::set_name(found.call, call.name());
    sim::set_site(found, site);
    process.findings().add(sim::Finding::rma_conflict, found, sentence);
    if (!fatal) {
      const bool last = ++window.check->lines == kConflictsPrintedMax;
      std::fprintf(stderr, "margay: rank %u: %s%s: %s%s%s\n", process.rank(), call.name(), site.c_str(),
                   sim::one_line(sentence).c_str(), last ? " (the last one that is printed)" : "",
                   id_suffix(sim::Finding::rma_conflict).c_str());
    }
  } else {
    process.findings().count(1);
  }
  call.error(MPI_ERR_RMA_CONFLICT, std::move(sentence));
}

// The check of the origin's own memory: finds incomplete accesses whose buffers the new access uses, too.
class OwnBuffers {
 public:
  OwnBuffers(Window& window, const AnnouncedAccess& access, int target) : window_(window), own_(access) {
    // The field `origin` contains the target: all accesses here have the same origin, and the message names the
    // targets.
    own_.origin = target;
    own_.epoch = EpochKind::passive;  // ends when the origin may reuse its memory, in any epoch
    own_.ends_alone = false;
  }
  void add(bool writes, const void* buffer, std::int64_t count, const Datatype& type) {
    if (conflict_) return;
    own_.kind = writes ? AccessKind::put : AccessKind::get;
    std::vector<ByteRange> ranges;
    Pieces pieces;
    portals::RegionCursor cursor(pieces.to_send(buffer, count, type));
    while (cursor.left() != 0) {
      const portals::Buffer piece = cursor.peek(cursor.left());
      const auto begin = reinterpret_cast<std::uintptr_t>(piece.base);
      ranges.push_back({begin, begin + piece.bytes});
      cursor.skip(piece.bytes);
    }
    conflict_ = window_.check->buffers.add(own_, ranges);
  }
  [[nodiscard]] const std::optional<Conflict>& conflict() const { return conflict_; }
  [[nodiscard]] const AnnouncedAccess& own() const { return own_; }

 private:
  Window& window_;
  AnnouncedAccess own_;
  std::optional<Conflict> conflict_;
};

// Checks the origin's buffers. The buffers of gets and of results are written, all others are read.
bool check_buffers(Call& call, Window& window, const AnnouncedAccess& announced, const Access& access,
                   const AccessNature& nature) {
  OwnBuffers buffers(window, announced, access.target);
  if (nature.kind != AccessKind::accumulate) {
    buffers.add(nature.kind == AccessKind::get, access.buffer, access.count, *access.type);
  } else {
    const OriginData& origin = nature.origin;
    if (nature.operands->any()) buffers.add(false, origin.buffer, origin.count, *origin.type);
    if (nature.operands->compare != nullptr) buffers.add(false, nature.operands->compare, 1, *access.target_type);
    if (access.has_result()) buffers.add(true, access.buffer, access.count, *access.type);
  }
  if (!buffers.conflict()) return true;
  report_conflict(
      call, window,
      own_conflict_text(*buffers.conflict(), buffers.own(), announced, first_call(call, *buffers.conflict())));
  return false;
}

// Announces the access in parts. If a part conflicts, the access does not begin, and the parts before it are withdrawn.
bool check_target(Call& call, Window& window, const AnnouncedAccess& announced, const Access& access) {
  TargetPieces pieces(*access.target_type, access.target_count);
  bool any = false;
  while (call.ok() && pieces.left() != 0) {
    std::uint64_t bytes = 0;
    const std::vector<Piece> part = pieces.take(kPiecesPerRequest, pieces.left(), bytes);
    Conflict answer;
    Outstanding outstanding;
    call.rank().rma().announce(window, access.target, access.offset, part, announced, answer, outstanding);
    wait_until(call.rank(), [&] { return outstanding.count == 0; });
    if (outstanding.error_class != MPI_SUCCESS) {
      call.error(outstanding.error_class, {});
    } else if (answer.clash != Clash::none) {
      // The name comes from another process: it may lack its final zero.
      answer.first.call[sizeof answer.first.call - 1] = '\0';
      report_conflict(call, window,
                      conflict_text(answer, announced, {access.target, window_text(window), first_call(call, answer)}));
    }
    // The target has recorded this part.
    any |= call.ok();
  }
  if (call.ok()) return true;
  if (any) {
    Outstanding outstanding;
    call.rank().rma().announce_completed(window, access.target, Completed::one_access, announced.number, &outstanding);
    wait_until(call.rank(), [&] { return outstanding.count == 0; });
  }
  return false;
}

}  // namespace

// Hints that are not set leave the defaults.
void read_hints(const Window& window, AnnouncedAccess& access) {
  const std::string* const operations = window.info.find("accumulate_ops");
  if (operations != nullptr && *operations != "same_op_no_op") {
    access.mixed_ops = *operations == "same_op" ? MixedOps::none : MixedOps::any;
  }
  const std::string* const ordering = window.info.find("accumulate_ordering");
  if (ordering == nullptr) return;
  for (const char* const kind : {"rar", "raw", "war", "waw"}) {
    // One missing order suffices to make accumulates unordered.
    if (ordering->find(kind) == std::string::npos) access.ordered = false;
  }
}

// An access without bytes conflicts with none.
bool announce_checked(Call& call, Window& window, Access& access, const AccessNature& nature) {
  if (static_cast<std::uint64_t>(access.target_count) * access.target_type->size == 0) return true;
  const AnnouncedAccess announced = announcement_of(call, window, access, nature);
  // The origin first: that needs no message.
  if (!check_buffers(call, window, announced, access, nature) || !check_target(call, window, announced, access)) {
    // The access does not begin, so it no longer uses the origin's buffers.
    window.check->buffers.end_access(access.target, announced.number);
    return false;
  }
  WindowCheck::Open& open = window.check->open[static_cast<std::size_t>(access.target)];
  (announced.reads() ? open.reads : open.others) = true;
  access.announced = {announced.number, announced.ends_alone};
  return true;
}

}  // namespace margay::mpi
