// A rank's data about its job before the first message: its identity, the ranks of its node, the shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/peer_table.hpp"
#include "sim/base/process_identity.hpp"
#include "sim/base/resources.hpp"
#include "sim/boot/options.hpp"

namespace margay::sim {

using portals::Status;

class Board;
class PmiClient;

// The launcher of this process.
enum class Launcher : std::uint8_t {
  // None: rank 0 of 1.
  none,
  // `margay run`: board and node segment are inherited descriptors.
  margay,
  // Another launcher that speaks PMI-1.1 (Hydra, Slurm).
  pmi,
};

// A rank's data about its job. join() fills it in, in one thread; it does not change afterwards.
struct Job {
  // This process's place among those of the job. Ranks that began with the job have the first places in order; a
  // process that was started later has another rank in its MPI_COMM_WORLD (all_ranks).
  std::uint32_t rank = 0;
  // Places of the job, with a process or without. Each has an address.
  std::uint32_t size = 1;
  // Ranks that began with the job, equal in every process, so all may choose by it; 0: each place has one.
  std::uint32_t first_ranks = 0;
  // This rank's node.
  std::uint32_t node = 0;
  // More than one: TCP is needed, and cards are exchanged through `pmi`.
  std::uint32_t node_count = 1;
  SharedTable node_of_rank{0};
  // The places of this process's MPI_COMM_WORLD, ascending: those that were started together. Ranks of one process may
  // share the table. Empty: all places.
  SharedTable all_ranks;
  // The number of its world: 0 if it began with the job.
  std::uint32_t world = 0;
  // The number of processes that had this place before.
  std::uint32_t predecessors = 0;
  // Whether a process of the job has started this one. Its parent's port is then in the key-value space.
  bool spawned = false;
  // Index of this rank's program in a "prog : prog" line.
  std::uint32_t appnum = 0;
  // Ranks of this process, each a thread (`margay run --threads`).
  std::uint32_t process_ranks = 1;
  // Ranks that run this rank's program; 0: all.
  std::uint32_t program_ranks = 0;
  // Processes that the job can have at once; -1: unknown.
  int universe_size = -1;
  // Random, equal in every rank.
  std::uint64_t job_id = 0;
  // Places on this node, with a process or without.
  std::uint32_t ranks_on_node = 1;
  // Index of this rank among its node's places, in their order.
  std::uint32_t local_rank = 0;
  // The processes of this node's ranks, if no launcher ends the job when one of them dies: the ranks then detect the
  // death themselves. Otherwise empty.
  std::vector<ProcessIdentity> node_processes;
  // The memory that this node's ranks share, initially zero; -1: alone on the node.
  int node_segment_fd = -1;
  std::uint64_t node_segment_bytes = 0;
  // The job board (sim/boot/board.hpp); -1: another launcher, or none.
  int board_fd = -1;
  // For the handshake between nodes; never printed.
  std::array<std::byte, 32> secret{};
  Options options;
  // Empty: no trace.
  std::string trace_dir;
  // Where this rank listens: an interface's name, an address, or a network such as 10.1.0.0/16. Empty: on 127.0.0.1 if
  // all nodes are emulated, otherwise, and for other jobs, where choose_address() decides (sim/boot/interface).
  std::string tcp_interface;
  // Whether waiting ranks yield at once. The launcher determines it, or rank 0 under another launcher, so it is equal
  // in every rank, and all may choose by it. The yield policy of this process is determined separately.
  bool crowded = false;
  // Processors that all ranks of the job share, determined by the same process; 0: unknown.
  double processors = 0;
  // The rates by which collectives choose (sim/boot/job_rates), equal in every rank; empty: not measured. Rates that
  // the user gave must be valid.
  std::string rates;
  bool rates_given = false;
  // All nodes are this host: listen on 127.0.0.1.
  bool nodes_are_emulated = false;
  Launcher launcher = Launcher::none;
  // Null without a launcher; connects on first use.
  std::shared_ptr<PmiClient> pmi;

  [[nodiscard]] std::uint32_t initial_ranks() const { return first_ranks != 0 ? first_ranks : size; }
  [[nodiscard]] std::uint32_t world_size() const {
    return all_ranks.empty() ? size : static_cast<std::uint32_t>(all_ranks.size());
  }
};

// Takes the world of this process from the board: the places whose processes were started together with it. Requires:
// job.rank is a place that has a process.
void take_world(const Board& board, Job& job);

// The possible sizes of a node's shared segment for `ranks` ranks; sim/wire/shm/shm_layout.hpp implements it.
using SegmentSizesOf = SegmentSizes (*)(std::uint32_t ranks);

// Ends a rank's part in the job, after its last message (MPI_Finalize): finalizes PMI. Idempotent.
Status leave(Job& job);

// Ends the whole job with `code` as its exit status; never returns. Flushes stdio; without `margay run`, the flush
// lasts a second at most. `message`: one line for the user, or empty. `id`: the finding's id; if the rank prints the
// line itself, the line ends with the id; empty: none.
[[noreturn]] void abort_job(const Job& job, int code, std::string_view message, std::string_view id = "");

}  // namespace margay::sim
