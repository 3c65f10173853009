#include "collectives/comm/agree.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "collectives/algorithm/bcast_tree.hpp"
#include "collectives/algorithm/reduce_tree.hpp"
#include "collectives/comm/internal_tag.hpp"
#include "collectives/comm/tree_and.hpp"
#include "collectives/op/operation.hpp"
#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/mpi/receive_call.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/context_agreement.hpp"
#include "mpi_adi/progress/describe.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "mpi_adi/request/own_request.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::ContextAgreement;
using mpi_adi::MpiRank;
using mpi_adi::Request;

namespace {

using Words = std::span<std::uint64_t>;

// The same on all members, another for each agreement that may go on at once.
std::uint32_t salt_of(const Communicator& communicator, int tag) {
  return static_cast<std::uint32_t>(communicator.collective_context) << 16 ^ static_cast<std::uint32_t>(tag);
}

Agreed outcome(const ContextAgreement& agreement) {
  return {agreement.agreed(), agreement.agreed().context < 0 ? MPI_ERR_OTHER : MPI_SUCCESS};
}

Agreed failed(int error_class) {
  return {{}, error_class};
}

// One member names the communicator's generation.
std::uint64_t offered_generation(MpiRank& rank, bool names_it) {
  return names_it ? rank.next_generation() : ContextAgreement::kAnyGeneration;
}

// `everywhere(words)`: their bitwise and over all members; MPI_SUCCESS or an error class.
template <typename Everywhere>
Agreed agree(MpiRank& rank, std::uint32_t salt, bool names_generation, Everywhere everywhere) {
  // Other threads may come to other agreements before this one is over.
  ContextAgreement agreement(rank.contexts(), salt, !rank.threaded(), offered_generation(rank, names_generation));
  do {
    if (const int error_class = everywhere(agreement.words()); error_class != MPI_SUCCESS) return failed(error_class);
  } while (!agreement.combined());
  return outcome(agreement);
}

int reduce_to(MpiRank& rank, Communicator& communicator, int root, Words words) {
  Collective collective(rank, communicator);
  run(reduce_tree(collective, root, reinterpret_cast<std::byte*>(words.data()), words.size(), sizeof(std::uint64_t),
                  predefined_combine(MPI_BAND, MPI_UINT64_T)));
  return collective.error_class();
}

int tell_from(MpiRank& rank, Communicator& communicator, int root, Words words) {
  Collective collective(rank, communicator);
  run(bcast_tree(collective, root, portals::Region(words.data(), words.size_bytes())));
  return collective.error_class();
}

std::vector<int> all_ranks(const Communicator& communicator) {
  std::vector<int> ranks(static_cast<std::size_t>(communicator.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// MPI_Comm_idup's request.
class Duplication final : public mpi_adi::OwnRequest, private mpi_adi::Task {
 public:
  Duplication(MpiRank& rank, Communicator& parent, Communicator& duplicate, MPI_Comm* handle, int tag)
      : OwnRequest(mpi_adi::RequestKind::collective),
        Task(rank.device().tasks(), By::anybody),
        rank_(rank),
        duplicate_(duplicate),
        handle_(handle),
        agreement_(rank.contexts(), salt_of(parent.everybody(), tag), false,
                   offered_generation(rank, parent.everybody().rank() == 0)),
        tree_(rank.device(), *rank.datatype(MPI_BYTE), parent.everybody(), all_ranks(parent.everybody()),
              parent.everybody().rank(), tag, this) {
    communicator = &parent;
    ++parent.references;
    tree_.start(agreement_.words());
    begin();
  }
  ~Duplication() override { rank_.release(*communicator); }

  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& words) override {
    mpi_adi::fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    if (error_ != MPI_SUCCESS) {
      words = error_ == MPI_ERR_OTHER ? mpi_adi::kContextsUsedUp : mpi_adi::words_of_lost(rank);
    }
    return error_;
  }
  [[nodiscard]] int give_up(MpiRank& /*rank*/, std::string& /*words*/) override { return MPI_SUCCESS; }

 private:
  [[nodiscard]] std::string under_way() const override {
    return complete ? "" : "MPI_Comm_idup, " + mpi_adi::communicator_word(*communicator);
  }
  [[nodiscard]] bool go_on() override {
    if (complete) return false;  // a lost peer wakes all tasks
    while (tree_.step()) {
      error_ = tree_.error_class();
      if (error_ != MPI_SUCCESS) return true;
      if (agreement_.combined()) {
        error_ = collectives::outcome(agreement_).error_class;
        return true;
      }
      tree_.start(agreement_.words());
    }
    return false;
  }
  void over() override {
    if (error_ == MPI_SUCCESS) {
      MpiRank::set_context(duplicate_, agreement_.agreed());
    } else {
      *handle_ = MPI_COMM_NULL;
      rank_.free_communicator(duplicate_);
    }
    ++rank_.device().parts().completions;
    complete = true;
  }

  MpiRank& rank_;
  Communicator& duplicate_;
  MPI_Comm* handle_;
  int error_ = MPI_SUCCESS;
  ContextAgreement agreement_;
  TreeAnd tree_;
};

}  // namespace

Agreed agree_among_all(MpiRank& rank, Communicator& parent) {
  Communicator& all = parent.everybody();
  return agree(rank, salt_of(all, 0), all.rank() == 0, [&](Words words) {
    const int up = reduce_to(rank, all, 0, words);
    const int down = tell_from(rank, all, 0, words);
    return up != MPI_SUCCESS ? up : down;
  });
}

Agreed agree_among(MpiRank& rank, Communicator& parent, std::vector<int> ranks, int me, int tag, std::uint64_t mark) {
  TreeAnd tree(rank.device(), *rank.datatype(MPI_BYTE), parent, std::move(ranks), me, tag);
  return agree(rank, salt_of(parent, tag), me == 0, [&](Words words) {
    // Of equal marks the and is the mark, and of what it has not is that: one bit that differs clears one of the two.
    std::vector<std::uint64_t> marked(words.begin(), words.end());
    marked.push_back(mark);
    marked.push_back(~mark);
    tree.start(marked);
    wait_until(
        rank, [&tree] { return tree.step(); }, 1);
    std::copy_n(marked.begin(), words.size(), words.begin());
    if (tree.error_class() != MPI_SUCCESS) return tree.error_class();
    return marked[words.size()] == mark && marked[words.size() + 1] == ~mark ? MPI_SUCCESS : MPI_ERR_INTERN;
  });
}

int exchange_with_leader(MpiRank& rank, const Leaders& leaders, const std::vector<std::uint64_t>& mine,
                         std::vector<std::uint64_t>& theirs) {
  mpi_adi::Device& device = rank.device();
  mpi_adi::Datatype& bytes = *rank.datatype(MPI_BYTE);
  constexpr auto kContext = mpi_adi::Context::collective;
  const auto size = [](const std::vector<std::uint64_t>& words) {
    return static_cast<std::int64_t>(words.size() * sizeof(std::uint64_t));
  };
  Request& out = *device.start_send(mpi_adi::SendMode::standard, mine.data(), size(mine), bytes, leaders.remote_leader,
                                    leaders.tag, *leaders.peer, kContext);
  mpi_adi::Envelope envelope;
  bool lost = false;
  wait_until(rank, [&] {
    if (device.probe(leaders.remote_leader, leaders.tag, *leaders.peer, envelope, kContext)) return true;
    return lost = device.source_lost(leaders.remote_leader, *leaders.peer);
  });
  int error_class = lost ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
  const auto end = [&](Request& request) {
    wait_until(
        rank, [&request] { return request.complete; }, 1);
    if (request.error_class != MPI_SUCCESS) error_class = request.error_class;
    device.free(request);
  };
  if (!lost) {
    theirs.resize(envelope.bytes / sizeof(std::uint64_t));
    end(*device.start_receive(theirs.data(), size(theirs), bytes, leaders.remote_leader, leaders.tag, *leaders.peer,
                              kContext));
  }
  end(out);
  return error_class;
}

Agreed agree_with_leaders(MpiRank& rank, const Leaders& leaders) {
  const auto salt = static_cast<std::uint32_t>(leaders.tag);  // all that both groups know in common
  return agree(rank, salt, leaders.peer != nullptr, [&](Words words) {
    int error_class = reduce_to(rank, leaders.local, leaders.local_leader, words);
    std::vector<std::uint64_t> result(words.begin(), words.end());
    if (leaders.peer != nullptr) {
      std::vector<std::uint64_t> theirs;
      const int failed = exchange_with_leader(rank, leaders, result, theirs);
      if (failed != MPI_SUCCESS) error_class = failed;
      theirs.resize(words.size(), 0);
      std::transform(theirs.begin(), theirs.end(), result.begin(), result.begin(), std::bit_and<>());
    }
    // The members learn from their leader that the other one is lost.
    result.push_back(static_cast<std::uint64_t>(error_class));
    const int told = tell_from(rank, leaders.local, leaders.local_leader, Words(result));
    std::copy_n(result.begin(), words.size(), words.begin());
    return told != MPI_SUCCESS ? told : static_cast<int>(result.back());
  });
}

Request* begin_agreement(MpiRank& rank, Communicator& parent, Communicator& duplicate, MPI_Comm* handle) {
  Notices& notices = static_cast<TreePortal*>(rank.collectives())->notices();
  const int tag = internal_tag(Agreement::sequence, notices.take_number(parent.everybody()));
  return new Duplication(rank, parent, duplicate, handle, tag);
}

}  // namespace margay::collectives
