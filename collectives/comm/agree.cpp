#include "collectives/comm/agree.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/select/perform.hpp"
#include "collectives/topology/members.hpp"
#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/context_agreement.hpp"
#include "mpi_adi/op/operation.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "sim/machine/process.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::ContextAgreement;
using mpi_adi::MpiRank;
using mpi_adi::Request;

namespace {

using Words = std::span<std::uint64_t>;

// A salt that is equal on all members, and differs between simultaneous agreements.
std::uint32_t salt_of(const Communicator& communicator, std::uint32_t number) {
  return static_cast<std::uint32_t>(communicator.collective_context) << 16 ^ number;
}

TreePortal& portal_of(MpiRank& rank) {
  return *static_cast<TreePortal*>(rank.collectives());
}

// This member's offer of the new communicator's generation. One member names it; the others offer all ones, which do
// not change the bitwise and.
std::uint64_t offered_generation(MpiRank& rank, bool names_it) {
  return names_it ? rank.worlds().next_generation() : ContextAgreement::kAnyGeneration;
}

int reduce_to(MpiRank& rank, Communicator& communicator, int root, Words words) {
  Collective collective(rank, communicator, by_tree(Operation::reduce, root, words.size_bytes()));
  run(reduce_tree(collective, root,
                  {reinterpret_cast<std::byte*>(words.data()), words.size(), sizeof(std::uint64_t),
                   predefined_combine(MPI_BAND, MPI_UINT64_T)}));
  return collective.error_class();
}

int broadcast_words(MpiRank& rank, Communicator& communicator, int root, Words words) {
  Collective collective(rank, communicator, by_tree(Operation::bcast, root, words.size_bytes()));
  run(bcast_tree(collective, root, portals::Region(words.data(), words.size_bytes())));
  return collective.error_class();
}

// The agreement among the members of the call's communicator. One call carries all rounds: the messages of two members
// alternate (and_tree()), so those of different rounds do not mix. `mark`: see agree_among(). `error_class`:
// MPI_SUCCESS, or the reason of failure.
Steps agreement_routine(Collective& collective, ContextAgreement& agreement, std::uint64_t mark, int& error_class) {
  do {
    const Words mine = agreement.words();
    std::vector<std::uint64_t> words(mine.begin(), mine.end());
    // The ands of the marks and of their complements equal this member's only if all marks are equal: a bit that
    // differs is cleared in both.
    words.push_back(mark);
    words.push_back(~mark);
    co_await and_tree(collective, words, error_class);
    if (error_class == MPI_SUCCESS && (words[mine.size()] != mark || words[mine.size() + 1] != ~mark)) {
      error_class = MPI_ERR_INTERN;
    }
    if (error_class != MPI_SUCCESS) co_return;
    std::copy_n(words.begin(), mine.size(), mine.begin());
  } while (!agreement.combined());
  if (agreement.agreed().context < 0) error_class = MPI_ERR_OTHER;
}

Agreed agree(Collective& collective, ContextAgreement& agreement, std::uint64_t mark) {
  int error_class = MPI_SUCCESS;
  run(agreement_routine(collective, agreement, mark, error_class));
  return error_class == MPI_SUCCESS ? Agreed{agreement.agreed(), MPI_SUCCESS} : Agreed{{}, error_class};
}

// The request of MPI_Comm_idup.
class Duplication final : public CallTask {
 public:
  Duplication(MpiRank& rank, Communicator& parent, Communicator& duplicate, MPI_Comm* handle)
      : CallTask(rank, parent, By::anybody),
        duplicate_(duplicate),
        handle_(handle),
        agreement_(std::in_place, rank.worlds().contexts(), salt_of(parent.all_members(), next_number(parent)), false,
                   offered_generation(rank, parent.all_members().rank() == 0)) {}
  [[nodiscard]] int end(MpiRank& rank, MPI_Status* status, std::string& words) override {
    const int ended = CallTask::end(rank, status, words);
    if (ended != MPI_SUCCESS) {
      *handle_ = MPI_COMM_NULL;
      rank.free_communicator(duplicate_);
    }
    return ended;
  }

 private:
  [[nodiscard]] Plan plan(const StandingFacts& /*standing*/) const override { return {}; }
  // The number of the call that begins next: the duplication's own call.
  static std::uint32_t next_number(Communicator& parent) {
    return static_cast<std::uint32_t>(parent.all_members().collective_sequence);
  }
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& /*standing*/, Algorithm /*how*/) override {
    co_await agreement_routine(collective, *agreement_, 0, agreed_);
    if (agreed_ == MPI_SUCCESS) mpi_adi::Worlds::set_context(duplicate_, agreement_->agreed());
    agreement_.reset();  // if it failed, releases its reserved pair before the request completes
  }
  [[nodiscard]] int finish() override { return agreed_; }
  [[nodiscard]] std::string error_text(int why) const override {
    return why == MPI_ERR_OTHER ? mpi_adi::kContextsUsedUp : "";
  }

  Communicator& duplicate_;
  MPI_Comm* handle_;
  int agreed_ = MPI_SUCCESS;
  // Begins before the routine does, because a blocking agreement that starts in between must count this agreement.
  std::optional<ContextAgreement> agreement_;
};

}  // namespace

Agreed agree_among_all(MpiRank& rank, Communicator& parent) {
  Communicator& all = parent.all_members();
  // With several threads, another agreement may begin before this one is over.
  ContextAgreement agreement(rank.worlds().contexts(), salt_of(all, 0), !rank.threaded(),
                             offered_generation(rank, all.rank() == 0));
  Collective collective(rank, all);
  return agree(collective, agreement, 0);
}

Agreed agree_among(MpiRank& rank, Communicator& parent, const mpi_adi::GroupPtr& members, int tag, std::uint64_t mark) {
  // The members form a temporary communicator, in the parent's point-to-point context, which no collective call uses on
  // the tree portal. They send nothing else on it; the trace names it by the parent's collective context.
  Communicator some;
  some.set_groups(members);
  some.context = parent.collective_context;
  some.collective_context = parent.context;
  some.generation = parent.generation;
  ContextAgreement agreement(rank.worlds().contexts(), salt_of(parent, static_cast<std::uint32_t>(tag)),
                             !rank.threaded(), offered_generation(rank, members->my_rank == 0));
  if (sim::Recorder& recorder = rank.process().recorder(); recorder.on()) mpi_adi::define_in_trace(recorder, parent);
  const Agreed agreed = [&] {
    Collective collective(portal_of(rank), some, CallNumber::of_message(static_cast<std::uint32_t>(tag)));
    return agree(collective, agreement, mark);
  }();
  // Messages of a failed agreement may still arrive in the parent's contexts.
  parent.contexts_spent |= some.contexts_spent;
  return agreed;
}

int exchange_with_leader(MpiRank& rank, const Leaders& leaders, const std::vector<std::uint64_t>& mine,
                         std::vector<std::uint64_t>& theirs, std::size_t most) {
  mpi_adi::Device& device = rank.device();
  mpi_adi::Datatype& bytes = *rank.handles().datatype(MPI_BYTE);
  constexpr auto kContext = mpi_adi::Context::collective;
  const auto size = [](const std::vector<std::uint64_t>& words) {
    return static_cast<std::int64_t>(words.size() * sizeof(std::uint64_t));
  };
  Request& out = *device.start_send({mpi_adi::SendMode::standard, mine.data(), size(mine), &bytes,
                                     leaders.remote_leader, leaders.tag, leaders.peer, kContext});
  // Probed first, because the length of the other leader's words is unknown.
  mpi_adi::Envelope envelope;
  bool lost = false;
  wait_until(rank, [&] {
    if (device.probe(leaders.remote_leader, leaders.tag, *leaders.peer, envelope, kContext)) return true;
    return lost = device.is_source_lost(leaders.remote_leader, *leaders.peer);
  });
  int error_class = lost ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
  const auto end = [&](Request& request) {
    wait_until(
        rank, [&request] { return request.complete; }, 1);
    if (request.error_class != MPI_SUCCESS) error_class = request.error_class;
    device.free(request);
  };
  if (!lost) {
    // A message of more than `most` words ends this receive with MPI_ERR_TRUNCATE.
    theirs.resize(std::min<std::uint64_t>(envelope.bytes / sizeof(std::uint64_t), most));
    end(*device.start_receive(
        {theirs.data(), size(theirs), &bytes, leaders.remote_leader, leaders.tag, leaders.peer, kContext}));
  }
  end(out);
  return error_class;
}

int and_with_leaders(MpiRank& rank, const Leaders& leaders, Words words) {
  int error_class = reduce_to(rank, leaders.local, leaders.local_leader, words);
  std::vector<std::uint64_t> result(words.begin(), words.end());
  if (leaders.peer != nullptr) {
    std::vector<std::uint64_t> theirs;
    const int failed = exchange_with_leader(rank, leaders, result, theirs, words.size());
    if (failed != MPI_SUCCESS) error_class = failed;
    theirs.resize(words.size(), 0);
    std::transform(theirs.begin(), theirs.end(), result.begin(), result.begin(), std::bit_and<>());
  }
  // The leader reports to its members whether the other leader is lost.
  result.push_back(static_cast<std::uint64_t>(error_class));
  const int shared = broadcast_words(rank, leaders.local, leaders.local_leader, Words(result));
  std::copy_n(result.begin(), words.size(), words.begin());
  return shared != MPI_SUCCESS ? shared : static_cast<int>(result.back());
}

Agreed agree_with_leaders(MpiRank& rank, const Leaders& leaders) {
  const auto salt = static_cast<std::uint32_t>(leaders.tag);  // the only value that both groups share
  ContextAgreement agreement(rank.worlds().contexts(), salt, !rank.threaded(),
                             offered_generation(rank, leaders.peer != nullptr));
  do {
    const int error_class = and_with_leaders(rank, leaders, agreement.words());
    if (error_class != MPI_SUCCESS) return {{}, error_class};
  } while (!agreement.combined());
  return {agreement.agreed(), agreement.agreed().context < 0 ? MPI_ERR_OTHER : MPI_SUCCESS};
}

int agree_on_channels(MpiRank& rank, Communicator& all) {
  std::vector<std::uint64_t> words = portal_of(rank).notices().free_channels(all);
  int error_class = MPI_SUCCESS;
  Collective collective(rank, all);
  run(and_tree(collective, words, error_class));
  if (error_class == MPI_SUCCESS) Notices::agreed_on_channels(all, std::move(words));
  return error_class;
}

std::unique_ptr<CallTask> duplication(MpiRank& rank, Communicator& parent, Communicator& duplicate, MPI_Comm* handle) {
  return std::make_unique<Duplication>(rank, parent, duplicate, handle);
}

// The messages of two members alternate, up and down, so those of two consecutive ands of a call do not mix, and short
// messages need no notice.
Steps and_tree(Collective& collective, std::vector<std::uint64_t>& words, int& error_class) {
  collective.skip_gate();
  const TreePosition position = spanning_tree(collective.size(), 0, collective.rank());
  words.push_back(~std::uint64_t{0});  // cleared when a member is lost
  // Zeros: a message that a lost member does not send clears the result, including the last word.
  std::vector<std::uint64_t> theirs(words.size());
  const portals::Region mine(words.data(), words.size() * sizeof(std::uint64_t));
  const portals::Region landing(theirs.data(), mine.bytes());
  for (auto child = position.children.rbegin(); child != position.children.rend(); ++child) {
    std::fill(theirs.begin(), theirs.end(), 0);
    co_await Receive(collective, child->rank, landing);
    std::transform(theirs.begin(), theirs.end(), words.begin(), words.begin(), std::bit_and<>());
  }
  if (position.parent >= 0) {
    co_await Send(collective, position.parent, mine);
    co_await Flush(collective);
    std::fill(words.begin(), words.end(), 0);
    co_await Receive(collective, position.parent, mine);
  }
  for (const TreePosition::Child& child : position.children) co_await Send(collective, child.rank, mine);
  co_await Flush(collective);
  error_class = collective.error_class();
  if (error_class == MPI_SUCCESS && words.back() == 0) error_class = MPIX_ERR_PROC_FAILED;
  words.pop_back();
}

}  // namespace margay::collectives
