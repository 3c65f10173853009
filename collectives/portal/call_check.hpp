// The check of MARGAY_CHECK_TYPES for collective calls: whether the members of a communicator make the same calls in
// the same order, with the same root, operation and amounts of the same types, and whether what one sends to another is
// what that one expects from it (MPI 4.0, 6.1 and 6.14). Only there while that is asked for, and for communicators of
// the world model.
//
// Each member sends a report of each of its calls, before it does anything else for it, to rank 0 of the world, the
// judge, which compares the n-th calls of a communicator (call_match) and reports each call in which two members
// differ. Where they call different functions they are out of step: the n-th calls behind it are no longer one call,
// and no others of that communicator are compared. Reports of one process come in the order of its calls, so they carry
// no numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/portal/call_match.hpp"
#include "collectives/portal/call_record.hpp"
#include "collectives/portal/host.hpp"
#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/unexpected.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/boot/findings.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::collectives {

class CallCheck final : public mpi_adi::Listener {
 public:
  // Takes portal 9 of the host's table. `sent`: where messages are counted; `findings`: what was told. Requires: no
  // message has arrived yet.
  CallCheck(Host& host, sim::WireCounts& sent, sim::Findings& findings, sim::SourceLines& lines);

  static constexpr std::uint64_t kLinesMax = 100;  // printed; later ones are only counted
  ~CallCheck() override;

  // A call begins. Fills in which communicator it is on and who calls: `communicator`'s members all call.
  void begin(CallReport report, const mpi_adi::Communicator& communicator);
  // The last call of this process. The judge waits until it has everybody's, and tells of calls that some never made.
  void finish(CallReport report, const mpi_adi::Communicator& world);
  // This process's last call came to an error that another member's call may explain: waits until the judge has
  // compared all of them, or `over()`.
  template <typename Over>
  void settle(Over over) {
    ask();
    auto done = [&] { return settled() || over(); };
    if (!done()) host_.wait(done, 1);
  }

  void told() override;

 private:
  // The calls of one communicator that not all members have made yet. It goes when they have.
  struct Stream {
    std::list<CallMatch> open;
    std::uint32_t members = 0;                            // as the first report says
    std::uint64_t first = 0;                              // number of the first open one
    std::unordered_map<std::uint32_t, std::uint64_t> at;  // of each member, how many it made
    bool told = false;                                    // some differ: a member's error may be due to it
    bool out_of_step = false;                             // members called different functions: no others are compared
    std::vector<std::uint32_t> askers;
    // The first open call, or one after it, is the next one of this sender.
    [[nodiscard]] bool takes(const CallRecord& record, std::uint32_t from) const;
  };

  [[nodiscard]] bool judges() const { return host_.kernel().me().rank == kJudge; }
  void judge_alone(CallReport report);
  void send(std::vector<std::byte> message);
  void ask();
  [[nodiscard]] bool settled() const;
  void hear(CallReport report, std::uint32_t from);
  void hear_message(const portals::ArrivedMessage& message);
  void hear_question(const CallRecord::Key& key, std::uint32_t from);
  void answer(std::uint32_t to);
  // Requires: stream.takes() it.
  void compare(Stream& stream, CallReport report, std::uint32_t from);
  void tell(const std::string& calls);
  void tell_unmade();

  static constexpr std::uint32_t kJudge = 0;

  Host& host_;
  sim::WireCounts& sent_;
  sim::Findings& findings_;
  sim::SourceLines& lines_;
  std::uint64_t printed_ = 0;
  mpi_adi::HeapMemory memory_;
  portals::DynamicBlock block_;
  portals::MatchList list_;
  portals::MatchEntry catch_all_;
  CallRecord::Key last_;  // of this process's last call
  bool answered_ = true;  // no question of this process is open
  struct Sending {
    std::vector<std::byte> message;
    sim::Transmission transmission;
  };
  std::list<Sending> under_way_;
  std::map<CallRecord::Key, Stream> streams_;  // the judge's
  std::uint32_t ended_ = 0;                    // processes whose last call has come
};

}  // namespace margay::collectives
