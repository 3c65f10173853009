#include "mpi/collective/check_call.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/portal/call_check.hpp"
#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/op/operation.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi {

namespace {

constexpr std::int32_t kUsersOperation = -1;  // an operation of the program, whose handles may differ between ranks

template <std::size_t N>
void write(std::array<char, N>& to, std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), N - 1), to.data());
}

// The function's name without _c, because members may mix both.
std::string_view function_of(const Call& call) {
  std::string_view name = call.name();
  if (name.ends_with("_c")) name.remove_suffix(2);
  return name;
}

std::string root_text(int root) {
  if (root == kNoRoot) return "";
  return ", root " + (root == MPI_ROOT ? "MPI_ROOT" : root == MPI_PROC_NULL ? "MPI_PROC_NULL" : std::to_string(root));
}

// The count and type as the program names them; the check compares bytes and signatures instead.
std::string amount_text(const CollectiveCall& what) {
  if (what.type == nullptr) return "";
  return " of " + std::to_string(what.count) + " x " +
         (what.type->name.empty() ? std::string("a derived type") : what.type->name);
}

std::string details_text(const CollectiveCall& what) {
  std::string text;
  if (what.operation != 0) {
    text += " with " + (is_predefined_op(what.operation) ? operation_text(what.operation) : "an operation of its own");
  }
  return text + root_text(what.root);
}

// Writes the root as a rank of both groups together.
void write_root(CallRecord& record, int root, const Communicator& communicator) {
  const bool first_group = !communicator.is_inter() || communicator.both->rank() == communicator.rank();
  record.group = first_group ? 0 : 1;
  if (root == kNoRoot) return;
  if (!communicator.is_inter()) {
    record.root = root;
    return;
  }
  record.root_group = root >= 0 ? 1 - record.group : record.group;
  if (root == MPI_PROC_NULL) {
    record.root = CallRecord::kUnknownRoot;
  } else if (root == MPI_ROOT) {
    record.root = communicator.both->rank();
  } else {
    record.root = root + (first_group ? communicator.size() : 0);
  }
}

}  // namespace

Amount amount_of(const Datatype& type, std::uint64_t bytes) {
  return {bytes, signature_of(*type.definition, bytes)};
}

void record_call(Call& call, const Communicator& communicator, const CollectiveCall& what) {
  record_call(call, communicator, what, {}, true);
}

void record_call(Call& call, const Communicator& communicator, const CollectiveCall& what, CallShares shares,
                 bool alike) {
  // Only calls of the world model are checked.
  if (communicator.group->session != Group::kWorldModel) return;
  // Processes that were started later have no judge, and do not report their calls.
  const std::uint32_t first_ranks = call.rank().process().job().initial_ranks();
  const Communicator& all = communicator.both != nullptr ? *communicator.both : communicator;
  if (std::ranges::any_of(all.group->world_ranks, [=](std::uint32_t place) { return place >= first_ranks; })) return;
  CallReport report;
  CallRecord& record = report.record;
  write_root(record, what.root, communicator);
  // Handles of programs' operations are local, so they cannot be compared.
  record.operation = what.operation == 0 || is_predefined_op(what.operation) ? what.operation : kUsersOperation;
  if (alike && what.type != nullptr) {
    record.alike = amount_of(*what.type, static_cast<std::uint64_t>(what.count) * what.type->size);
  }
  record.expects_alike = shares.expects_alike;
  write(record.function, function_of(call));
  // The program's line, by which the check names the call.
  record.location = sim::source_location(call.rank().caller());
  write(record.of, amount_text(what));
  write(record.details, details_text(what));
  write(record.communicator, communicator_text(communicator));
  report.sends = std::move(shares.sends);
  report.expects = std::move(shares.expects);
  collectives_of(call).check()->begin(std::move(report), communicator);
}

// MPI_Finalize is a collective call, too, and its report shows which members made fewer calls.
void check_last_call(Call& call) {
  CallCheck* const check = collectives_of(call).check();
  if (check == nullptr) return;
  CallReport report;
  write(report.record.function, call.name());
  check->finish(std::move(report), call.rank().worlds().world());
}

}  // namespace margay::mpi
