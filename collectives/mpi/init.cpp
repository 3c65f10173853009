// Beginning and end (MPI 4.0, chapter 11.2).
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "collectives/mpi/arguments.hpp"
#include "collectives/portal/rank_host.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/mpi/attribute_callbacks.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"
#include "mpi_adi/mpi/early_call.hpp"
#include "mpi_adi/mpi/init_state.hpp"
#include "mpi_adi/mpi/leaks.hpp"
#include "mpi_adi/tool/tool.hpp"

using namespace margay::mpi_adi;

namespace {

// Owns the rank between MPI_Init and MPI_Finalize. A process that leaves without MPI_Finalize keeps it: the coprocessor
// may still be at work, and the operating system takes everything back.
MpiRank* owned_rank = nullptr;

std::unique_ptr<RankExtension> make_collectives(MpiRank& rank) {
  return std::make_unique<margay::collectives::TreePortal>(std::make_unique<margay::collectives::RankHost>(rank));
}

// A ready send that found no receive was dropped by the kernel (paper 001, section 2: "simply be discarded"); the
// program is told.
void report_dropped(MpiRank& rank) {
  const std::uint64_t dropped = rank.device().counts().ready_dropped;
  if (dropped == 0) return;
  std::fprintf(stderr, "margay: rank %u: %llu ready send(s) found no posted receive here and were dropped\n",
               rank.process().rank(), static_cast<unsigned long long>(dropped));
}

margay::portals::Status start(int thread_level, std::unique_ptr<MpiRank>& rank) {
  try {
    return MpiRank::start(thread_level, &make_collectives, rank);
  } catch (const std::bad_alloc&) {
    return margay::portals::Status::error(
        "no memory for the heap of unexpected messages and the rest; see ulimit -v, or lessen it with --heap");
  }
}

int begin(const CallName& name, int thread_level) {
  const char* const function = name.text;
  if (init_state() != InitState::before) {
    EarlyCall call(name);
    call.error(MPI_ERR_OTHER, std::string("called ") +
                                  (init_state() == InitState::running ? "twice" : "after MPI_Finalize") +
                                  "; a process initializes MPI once");
    return call.failed();
  }
  std::unique_ptr<MpiRank> rank;
  if (const margay::portals::Status status = start(thread_level, rank); !status.ok()) {
    std::fprintf(stderr, "margay: %s: %s\n", function, status.sentence().c_str());
    std::exit(1);
  }
  owned_rank = rank.release();
  set_current_rank(owned_rank);
  tool_rank_begins(*owned_rank);
  set_init_state(InitState::running);
  owned_rank->process().board().state = margay::sim::RankState::kInitialized;
  return MPI_SUCCESS;
}

}  // namespace

extern "C" int PMPI_Init(int* /*argc*/, char*** /*argv*/) {
  return begin(call_name<"MPI_Init">, MPI_THREAD_SINGLE);
}
MARGAY_ALIAS(Init)

extern "C" int PMPI_Init_thread(int* /*argc*/, char*** /*argv*/, int required, int* provided) {
  const int level = required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE : required;
  const int result = begin(call_name<"MPI_Init_thread">, level);
  if (provided != nullptr && result == MPI_SUCCESS) *provided = level;
  return result;
}
MARGAY_ALIAS(Init_thread)

extern "C" int PMPI_Initialized(int* flag) {
  if (flag == nullptr) return null_argument(call_name<"MPI_Initialized">, "flag");
  *flag = init_state() != InitState::before ? 1 : 0;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Initialized)

extern "C" int PMPI_Finalized(int* flag) {
  if (flag == nullptr) return null_argument(call_name<"MPI_Finalized">, "flag");
  *flag = init_state() == InitState::finalized ? 1 : 0;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Finalized)

extern "C" int PMPI_Query_thread(int* provided) {
  Call call(call_name<"MPI_Query_thread">);
  call.not_null(provided, "provided");
  if (call.ok()) *provided = call.rank().thread_level();
  return call.done();
}
MARGAY_ALIAS(Query_thread)

extern "C" int PMPI_Is_thread_main(int* flag) {
  Call call(call_name<"MPI_Is_thread_main">);
  call.not_null(flag, "flag");
  if (call.ok()) *flag = call.rank().on_main_thread() ? 1 : 0;
  return call.done();
}
MARGAY_ALIAS(Is_thread_main)

// Everybody's messages are out and in before anybody leaves: pending operations run to their end, then a barrier, after
// which nothing is on its way but what the law of accounting allows for (paper 001 has no finalize; MPI 4.0, 11.2.2).
extern "C" int PMPI_Finalize() {
  {
    Call call(call_name<"MPI_Finalize">);
    MpiRank& rank = call.rank();
    // First of all, while everything works: what the program wants done at the end (MPI 4.0, 11.2.4).
    if (!delete_attributes(call, rank.self()) || !delete_attributes(call, rank.world())) return call.failed();
    report_leaks(rank);  // before the wait: a receive that nobody sends to would keep the process there
    wait_until(rank, [&rank] { return rank.buffered().drained() && rank.device().quiet(); });
    margay::collectives::note_error(
        call, margay::collectives::perform_last_barrier(margay::collectives::collectives_of(call), rank.world()));
    if (!call.ok()) return call.failed();
    report_dropped(rank);
    rank.publish_accounts();
    const margay::sim::WireCounts& collectives = rank.collectives()->sent();
    rank.process().board().by_protocol[static_cast<std::size_t>(margay::sim::CountedProtocol::kCollective)] = {
        collectives.messages, collectives.bytes};
    rank.process().finish([&rank] { return rank.device().progress(); });
    rank.process().board().state = margay::sim::RankState::kFinalized;
  }
  tool_rank_ends();
  set_init_state(InitState::finalized);
  set_current_rank(nullptr);
  delete owned_rank;
  owned_rank = nullptr;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Finalize)

extern "C" int PMPI_Abort(MPI_Comm comm, int errorcode) {
  Call call(call_name<"MPI_Abort">);
  const Communicator* communicator = call.rank().communicator(comm);
  const std::string where =
      communicator == nullptr || communicator->name.empty() ? "a communicator" : communicator->name;
  call.rank().process().abort(errorcode,
                              "MPI_Abort was called on " + where + " with error code " + std::to_string(errorcode));
}
MARGAY_ALIAS(Abort)
