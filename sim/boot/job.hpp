// What a rank knows about its job before the first message: who it is, who shares its node, where the shared memory is.
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

class PmiClient;

// Who started this process.
enum class Launcher : std::uint8_t {
  kNone,    // nobody: rank 0 of 1
  kMargay,  // `margay run`: board and node segment came as descriptors
  kPmi,     // a foreign launcher that speaks PMI-1.1 (Hydra, Slurm)
};

struct Job {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t node = 0;        // of this rank
  std::uint32_t node_count = 1;  // more than one: TCP is needed, cards go through `pmi`
  SharedTable node_of_rank{0};
  SharedTable everybody;            // 0 to size - 1, where many ranks of one process share it; else empty
  std::uint32_t appnum = 0;         // which program of a "prog : prog" line this is
  std::uint32_t program_ranks = 0;  // ranks that run this one's program; 0: all
  int universe_size = -1;           // -1: unknown
  std::uint64_t job_id = 0;         // random, the same in every rank
  std::uint32_t ranks_on_node = 1;
  std::uint32_t local_rank = 0;  // index of this rank among its node's ranks, in rank order
  // Of this node's ranks, where no launcher ends the job when one of them dies: they notice it by themselves. Else
  // empty.
  std::vector<ProcessIdentity> node_processes;
  int node_segment_fd = -1;  // shared by this node's ranks, all zero at first; -1: alone on the node
  std::uint64_t node_segment_bytes = 0;
  int board_fd = -1;  // the job board (sim/boot/board.hpp); -1: started by a foreign launcher, or alone
  std::array<std::byte, 32> secret{};  // for the handshake between nodes; never print it
  Options options;
  std::string trace_dir;  // empty: no trace
  std::string
      tcp_interface;  // interface name, address or CIDR to listen on; empty: loopback when emulated, else any fit
  // Ranks that wait yield at once, as the launcher sees it, or rank 0 where that is not margay's: the same on every
  // rank, so that all may choose by it. How this very process waits is its own matter.
  bool crowded = false;
  double processors = 0;  // that all ranks of the job share, seen by the same; 0: unknown
  // What collectives choose by (sim/boot/job_rates), the same on every rank; empty: not measured. Given by the user, it
  // has to be right.
  std::string rates;
  bool rates_given = false;
  bool nodes_are_emulated = false;  // all nodes are this host: listen on 127.0.0.1
  Launcher launcher = Launcher::kNone;
  std::shared_ptr<PmiClient> pmi;  // null when nobody started this process; connects on first use
};

// How large a node's shared segment may be for this many ranks; sim/wire/shm/shm_layout.hpp has it.
using SegmentSizesOf = SegmentSizes (*)(std::uint32_t ranks);

// The end of a rank's part in the job, after its last message (MPI_Finalize): tells PMI. Idempotent.
Status leave(Job& job);

// Ends the whole job with `code` as its exit status; never returns. Flushes stdio, within a second where no `margay
// run` ends what does not end. `message` is one line for the user, or empty.
[[noreturn]] void abort_job(const Job& job, int code, std::string_view message);

}  // namespace margay::sim
