// The launcher's side of PMI-1.1 for all ranks of a job. Pure: lines in, lines out; PmiChannels transfers them. The
// reply to a refused request has rc=-1. A line that breaks the protocol is reported in `error`, which names the rank;
// the caller decides what follows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/run/pmi/name_store.hpp"
#include "command/run/pmi/spawn_order.hpp"
#include "sim/base/endpoint.hpp"
#include "sim/boot/pmi_message.hpp"

namespace margay::command {

// A line to one rank. The line by which the last rank enters a barrier causes one reply to each rank.
struct PmiReply {
  std::uint32_t rank = 0;
  // With its newline.
  std::string line;
};

// The effects of a line: replies, an order, an abort, or an error.
struct PmiOutcome {
  std::vector<PmiReply> replies;
  // The rank requests further processes; the caller starts them and sends it the answer (spawn_answer).
  std::optional<SpawnOrder> spawn;
  // Places whose processes the rank requests to end (cmd=margay_kill); the caller sends the answer (kill_answer).
  std::vector<std::uint32_t> kill;
  // The rank requests a place for a process of another job (cmd=margay_guest), or needs that of a guest no more
  // (cmd=margay_guest_gone); the caller sends the answer (guest_answer).
  std::optional<sim::Endpoint> guest;
  std::optional<std::uint32_t> gone_guest;
  // Whether the caller has an order to carry out and to answer.
  [[nodiscard]] bool is_order() const { return spawn || !kill.empty() || guest || gone_guest; }
  // The rank sent cmd=abort; the next three fields describe the abort.
  bool aborts = false;
  int abort_code = 0;
  // The reason for the abort: a second program in the rank's place.
  bool second_program = false;
  std::string abort_message;
  // Empty, or a sentence that names the rank.
  std::string error;
};

// The processes that were started together: the ranks that began with the job, or those of one spawn. They have a
// key-value space and a barrier of their own, as PMI-1.1 requires.
struct PmiWorld {
  // The places of its processes, in the order of their PMI ranks.
  std::vector<std::uint32_t> places;
  // By PMI rank.
  std::vector<std::uint32_t> appnums;
  std::vector<std::uint32_t> nodes;
  SpawnPairs preput;
};

// The state of the protocol: each process's phase; of each world the barrier and the key-value space; the published
// services; those of other jobs are in a NameStore. A process is given by its place in the job, which is its rank if it
// began with the job. Memory is bounded: 256 keys and 256 services for each place, and the worlds whose processes have
// not all been replaced.
class PmiServer {
 public:
  // The vectors have one entry for each rank that begins with the job. The nodes become the key PMI_process_mapping.
  // `places`: the places of the job, which are also its universe; 0: as many as ranks. `store`: the names of other
  // jobs; must outlive the server; nullptr: the job has its own names only.
  PmiServer(std::string job_name, std::vector<std::uint32_t> appnum_of_rank,
            const std::vector<std::uint32_t>& node_of_rank, std::uint32_t places = 0, NameStore* store = nullptr);

  // Begins a further world, before its processes start. Processes that had the places before are forgotten. Requires:
  // each place is smaller than the number of places.
  void begin_world(const PmiWorld& world);

  // Processes one line from `rank`, without its newline. Never fails: a line that breaks the protocol yields an error
  // in the outcome; one that breaks a spawn request yields an answer at the request's end.
  [[nodiscard]] PmiOutcome take_line(std::uint32_t rank, std::string_view line);

  // Whether the process in the place has sent init, or finalize. Processes of other MPI libraries that use PMI send
  // them, too.
  [[nodiscard]] bool initialized(std::uint32_t rank) const { return ranks_[rank].initialized; }
  [[nodiscard]] bool finalized(std::uint32_t rank) const { return ranks_[rank].finalized; }

 private:
  struct World {
    std::string kvs_name;
    std::vector<std::uint32_t> places;
    // Processes that have entered the current barrier.
    std::uint32_t waiting_in_barrier = 0;
    // The key-value space; a key is put once.
    std::map<std::string, std::string> values;
  };
  struct RankState {
    bool initialized = false;
    bool finalized = false;
    bool in_barrier = false;
    std::uint32_t appnum = 0;
    // Not nullptr: the lines of a spawn request are being read.
    std::shared_ptr<SpawnReader> spawn;
    // The world that it belongs to; shared by its members. Empty place: nullptr.
    std::shared_ptr<World> world;
  };
  using Handler = void (PmiServer::*)(std::uint32_t, const sim::PmiMessage&, PmiOutcome&);

  // One handler for each command of PMI-1.1.
  void init(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  // Constants, and the job's shape.
  void maxes(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void appnum(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void universe(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void kvs_name(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  // The key-value space, by which ranks exchange addresses. Keys are unique in the job.
  void put(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void get(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  // Replies to all ranks when the last one enters.
  void barrier(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void finalize(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void abort(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  // Named services (MPI_Publish_name). A refusal may have the field `why`, a sentence (sim::to_pmi_word()).
  void publish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void lookup(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void unpublish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  // Collects the lines of a spawn request.
  void take_spawn_line(std::uint32_t rank, std::string_view line, PmiOutcome& out);
  // margay's own command: the end of processes on purpose.
  void kill(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  // margay's own commands: places of processes of other jobs.
  void guest(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void guest_gone(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  // The world whose key-value space a line names; that of the rank if the name is unknown or missing.
  [[nodiscard]] World& world_of(std::uint32_t rank, const sim::PmiMessage& line);
  // nullptr: not a command of PMI-1.1.
  static Handler find_handler(std::string_view command);

  std::string job_name_;
  // By place.
  std::vector<RankState> ranks_;
  // Worlds begun so far.
  std::uint32_t worlds_ = 0;
  // The services that this job has published, with their ports.
  std::map<std::string, std::string> services_;
  NameStore* store_ = nullptr;
};

// The answer to cmd=margay_kill; `error`: why nothing was ended, or empty.
[[nodiscard]] std::string kill_answer(std::string_view error);
// The answer to cmd=margay_guest and cmd=margay_guest_gone: the guest's place, or why it has none.
[[nodiscard]] std::string guest_answer(std::uint32_t place, std::string_view error);

}  // namespace margay::command
