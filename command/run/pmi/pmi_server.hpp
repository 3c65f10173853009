// The launcher's side of PMI-1.1 for all ranks of a job. Pure: lines in, lines out; who carries them is the caller's
// affair. Bad lines are answered or reported, never fatal: `error` names the rank, and the caller decides.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/boot/pmi_message.hpp"

namespace margay::command {

struct PmiReply {
  std::uint32_t rank = 0;
  std::string line;  // with its newline
};

// What a line did besides being answered.
struct PmiOutcome {
  std::vector<PmiReply> replies;
  bool aborts = false;
  int abort_code = 0;
  bool second_program = false;  // aborts: a program that found the rank's place taken
  std::string abort_message;
  std::string error;  // empty, or a sentence naming the rank
};

class PmiServer {
 public:
  // `appnum_of_rank` and `node_of_rank` have one entry for each rank.
  PmiServer(std::string job_name, std::vector<std::uint32_t> appnum_of_rank,
            const std::vector<std::uint32_t>& node_of_rank);

  // One line from `rank`, without its newline.
  [[nodiscard]] PmiOutcome take_line(std::uint32_t rank, std::string_view line);

  [[nodiscard]] bool initialized(std::uint32_t rank) const { return ranks_[rank].initialized; }
  [[nodiscard]] bool finalized(std::uint32_t rank) const { return ranks_[rank].finalized; }

 private:
  struct RankState {
    bool initialized = false;
    bool finalized = false;
    bool in_barrier = false;
    bool in_spawn = false;  // between mcmd=spawn and endcmd
  };
  using Handler = void (PmiServer::*)(std::uint32_t, const sim::PmiMessage&, PmiOutcome&);

  void init(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void maxes(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void appnum(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void universe(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void kvs_name(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void put(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void get(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void barrier(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void finalize(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void abort(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void publish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void lookup(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void unpublish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  void take_spawn_line(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out);
  static Handler find_handler(std::string_view command);

  std::string job_name_;
  std::vector<std::uint32_t> appnum_of_rank_;
  std::vector<RankState> ranks_;
  std::uint32_t waiting_in_barrier_ = 0;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> services_;
};

}  // namespace margay::command
