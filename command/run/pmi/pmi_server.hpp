// The launcher's side of PMI-1.1 for all ranks of a job. Pure: lines in, lines out; PmiChannels transfers them. The
// reply to a refused request has rc=-1. A line that breaks the protocol is reported in `error`, which names the rank;
// the caller decides what follows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/boot/pmi_message.hpp"

namespace margay::command {

// A line to one rank. The line by which the last rank enters a barrier causes one reply to each rank.
struct PmiReply {
  std::uint32_t rank = 0;
  // With its newline.
  std::string line;
};

// The effects of a line: replies, an abort, or an error.
struct PmiOutcome {
  std::vector<PmiReply> replies;
  // The rank sent cmd=abort; the next three fields describe the abort.
  bool aborts = false;
  int abort_code = 0;
  // The reason for the abort: a second program in the rank's place.
  bool second_program = false;
  std::string abort_message;
  // Empty, or a sentence that names the rank.
  std::string error;
};

// The state of the protocol: each rank's phase, the barrier, the key-value space, the published services. Memory is
// bounded: 256 keys and 256 services for each rank of the job.
class PmiServer {
 public:
  // The vectors have one entry for each rank. The nodes become the key PMI_process_mapping.
  PmiServer(std::string job_name, std::vector<std::uint32_t> appnum_of_rank,
            const std::vector<std::uint32_t>& node_of_rank);

  // Processes one line from `rank`, without its newline. Never fails: a line that breaks the protocol yields an error
  // in the outcome, or nothing if it is part of a spawn block.
  [[nodiscard]] PmiOutcome take_line(std::uint32_t rank, std::string_view line);

  // Whether the rank has sent init, or finalize. Ranks of other MPI libraries that use PMI send them, too.
  [[nodiscard]] bool initialized(std::uint32_t rank) const { return ranks_[rank].initialized; }
  [[nodiscard]] bool finalized(std::uint32_t rank) const { return ranks_[rank].finalized; }

 private:
  struct RankState {
    bool initialized = false;
    bool finalized = false;
    bool in_barrier = false;
    // Between mcmd=spawn and endcmd. The server reads this block and refuses it at its end.
    bool in_spawn = false;
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
  // Named services (MPI_Publish_name).
  void publish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void lookup(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void unpublish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  // Collects a spawn block, which is refused at its end.
  void take_spawn_line(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  // nullptr: not a command of PMI-1.1.
  static Handler find_handler(std::string_view command);

  std::string job_name_;
  std::vector<std::uint32_t> appnum_of_rank_;
  std::vector<RankState> ranks_;
  // Ranks that have entered the current barrier.
  std::uint32_t waiting_in_barrier_ = 0;
  // The key-value space; a key is put once.
  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> services_;
};

}  // namespace margay::command
