// Groups whose members belong to several jobs. Each job addresses a process by another number, so the members of a
// group travel as identities (sim/base/endpoint.hpp) with the addresses at which they accept connections, and each
// process translates them into its own job's numbers (sim/machine/guests).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/comm/agree.hpp"
#include "mpi_adi/device/listener.hpp"
#include "sim/base/endpoint.hpp"

namespace margay::collectives {

// Whether a member of the group belongs to another job.
[[nodiscard]] bool has_guests(mpi_adi::MpiRank& rank, const mpi_adi::Group& group);

// The place of a process of another job, whose address is a card of a TCP wire. Fills in `why` and returns false if
// this process cannot be connected with it.
[[nodiscard]] bool reach(mpi_adi::MpiRank& rank, const sim::Endpoint& endpoint, std::string_view card,
                         std::uint32_t& place, std::string& why);
// Forgets the processes of other jobs that have no connection to this one and are in no communicator or group, so that
// their places are free for others.
void forget_former_guests(mpi_adi::MpiRank& rank);

// While one exists, each round of progress forgets former guests when a connection with one has ended, or one more was
// refused for lack of a place: its owner may wait for the call of a process that needs the place.
class ForgetsFormerGuests : public mpi_adi::Listener {
 public:
  explicit ForgetsFormerGuests(mpi_adi::MpiRank& rank);
  ~ForgetsFormerGuests() override;
  void notify() override;

 private:
  mpi_adi::MpiRank& rank_;
};

// The members of the other group, as numbers of this process's job. Collective over both groups, one of which has
// members of several jobs, or whose leaders belong to different jobs. Returns MPI_SUCCESS on all members; otherwise
// MPI_ERR_PORT, a member of one group cannot be connected with a member of the other one (`why`: the reason, on a
// member that has one); MPI_ERR_GROUP, a leader sent invalid members; MPIX_ERR_PROC_FAILED. Cost beside two exchanges
// of the leaders: a gather and three broadcasts in each group.
[[nodiscard]] int learn_members_of_jobs(mpi_adi::MpiRank& rank, const Leaders& leaders,
                                        std::vector<std::uint64_t>& theirs, std::string& why);

}  // namespace margay::collectives
