// What a member of a communicator tells another one when its collective call has gone wrong: that what the other one
// waits for will not come. Correct calls tell nothing.
//
// Notices are headers on the ready portal: number of the call, sender and context in the match bits, kLongBit set.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "collectives/portal/host.hpp"
#include "mpi_adi/device/heap_memory.hpp"
#include "mpi_adi/device/listener.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::collectives {

// What a member takes a call for: the same on all, or they do not fit each other.
struct Shape {
  std::uint8_t operation = 0;  // of select/choice; 0 where there is only one way
  std::uint8_t algorithm = 0;
  std::uint16_t root = 0;
  std::uint64_t bytes = 0;  // of one rank's data
  bool operator==(const Shape&) const = default;
};
void write_shape(portals::UserData& data, const Shape& shape);
[[nodiscard]] Shape read_shape(const portals::UserData& data);

// One call of this process, as far as others ask about it. Under the process lock.
struct CallState {
  mpi_adi::Communicator& communicator;
  std::uint64_t sequence;  // its number on the communicator
  Shape shape;
  int error_class = 0;            // MPI_SUCCESS
  std::vector<int> refused = {};  // members that will send nothing
};

class Notices final : public mpi_adi::Listener {
 public:
  // Takes its place at the head of the ready portal's list. Both outlive it.
  Notices(Host& host, portals::MatchList& ready_list);
  ~Notices() override;

  // A call begins or ends. It stays where it is in between.
  void begin(CallState& call) {
    active_.push_back(&call);
    if (!early_.empty()) [[unlikely]]
      hear_early();
  }
  void end(CallState& call);

  // Tells `member` that this call sends it nothing.
  void refuse(const CallState& call, int member);
  // Its contexts are about to be given back.
  void forget(const mpi_adi::Communicator& communicator);

  void told() override;

 private:
  void hear(const portals::Header& header);
  void hear_early();

  Host& host_;
  portals::MatchList& list_;
  mpi_adi::HeapMemory memory_;
  portals::DynamicBlock block_;
  portals::MatchEntry entry_;
  std::vector<CallState*> active_;      // one for each thread that is in a call
  std::vector<portals::Header> early_;  // of calls that this process has not begun
  std::list<sim::Transmission> under_way_;
};

}  // namespace margay::collectives
