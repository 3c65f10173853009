#include "sim/boot/join.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "sim/base/processors.hpp"
#include "sim/base/random.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/foreign.hpp"
#include "sim/boot/job_rates.hpp"
#include "sim/boot/parse_number.hpp"
#include "sim/boot/place.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/boot/pmi_join.hpp"

namespace margay::sim {
namespace {

// Of a second program in a rank's place.
constexpr int kRefusedStatus = 1;

template <typename Integer>
Status number_from_environment(const char* name, Integer& out) {
  const char* text = std::getenv(name);
  if (text != nullptr && parse_number(std::string_view(text), out)) return {};
  return Status::error(
      std::string(name) + "=" + (text != nullptr ? text : "(not set)") +
      " is not the number that a launcher puts there; unset it, or start the program with `margay run`");
}

// An inherited descriptor: it must be open, and goes no further than this program.
Status take_descriptor(const char* name, int& out) {
  if (Status status = number_from_environment(name, out); !status.ok()) return status;
  if (out < 0 || ::fcntl(out, F_SETFD, FD_CLOEXEC) != 0) {
    return Status::error(
        std::string(name) + "=" + std::to_string(out) +
        ": this descriptor of the launcher is not open here; a program between the launcher and this one " +
        "closed it, or this is a child of a rank (unset " + name + " to run it alone)");
  }
  return {};
}

// The board's block, and the job's wires, are the first program's: the user is told here, the launcher through PMI.
[[noreturn]] void refuse_second_program(const Job& job, const Status& refusal) {
  static_cast<void>(std::fprintf(stderr, "margay: rank %u: %s\n", job.rank, refusal.sentence().c_str()));
  job.pmi->refuse_second_program(kRefusedStatus);
  static_cast<void>(std::fflush(nullptr));
  ::_exit(kRefusedStatus);
}

Status join_margay(Job& job) {
  if (Status status = take_descriptor("MARGAY_BOARD_FD", job.board_fd); !status.ok()) return status;
  if (Status status = number_from_environment("MARGAY_RANK", job.rank); !status.ok()) return status;
  Board board;
  if (Status status = Board::attach(job.board_fd, board); !status.ok()) return status;
  const BoardHeader& header = board.header();
  if (job.rank >= header.size) {
    return Status::error("MARGAY_RANK=" + std::to_string(job.rank) + ", but the job has " +
                         std::to_string(header.size) + " ranks");
  }
  int pmi_descriptor = -1;
  if (Status status = take_descriptor("PMI_FD", pmi_descriptor); !status.ok()) return status;
  job.pmi = std::make_shared<PmiClient>(pmi_descriptor, job.rank, header.size);
  if (board.block(job.rank).pid == ::getpid()) {
    return Status::error("this process was in the job before, and left it; start one program on portals, or MPI, once");
  }
  if (Status status = take_place_on_board(board, job.rank); !status.ok()) refuse_second_program(job, status);
  job.launcher = Launcher::kMargay;
  job.size = header.size;
  job.node_count = header.node_count;
  job.job_id = header.job_id;
  job.secret = header.secret;
  job.crowded = header.crowded != 0;
  job.processors = header.processor_hundredths / 100.0;
  job.rates.assign(header.rates.data(), ::strnlen(header.rates.data(), header.rates.size()));
  job.rates_given = header.rates_given != 0;
  job.node_of_rank = SharedTable::Numbers(board.node_of_rank(), board.node_of_rank() + header.size);
  job.nodes_are_emulated = true;
  job.universe_size = static_cast<int>(header.size);
  if (std::getenv("MARGAY_APPNUM") != nullptr) {
    if (Status status = number_from_environment("MARGAY_APPNUM", job.appnum); !status.ok()) return status;
    if (Status status = number_from_environment("MARGAY_PROGRAM_RANKS", job.program_ranks); !status.ok()) return status;
  }
  if (std::getenv("MARGAY_NODE_FD") != nullptr) {
    if (Status status = take_descriptor("MARGAY_NODE_FD", job.node_segment_fd); !status.ok()) return status;
    struct stat info {};
    if (::fstat(job.node_segment_fd, &info) != 0) return Status::error("the node's shared memory cannot be examined");
    job.node_segment_bytes = static_cast<std::uint64_t>(info.st_size);
  }
  return {};
}

Status join_foreign(Job& job, SegmentSizesOf segment_sizes) {
  int descriptor = -1;
  if (Status status = take_descriptor("PMI_FD", descriptor); !status.ok()) return status;
  if (Status status = number_from_environment("PMI_RANK", job.rank); !status.ok()) return status;
  if (Status status = number_from_environment("PMI_SIZE", job.size); !status.ok()) return status;
  if (job.size == 0 || job.size > kMaxRanks || job.rank >= job.size) {
    return Status::error("PMI_RANK=" + std::to_string(job.rank) + " and PMI_SIZE=" + std::to_string(job.size) +
                         " do not fit together");
  }
  job.launcher = Launcher::kPmi;
  job.pmi = std::make_shared<PmiClient>(descriptor, job.rank, job.size);
  if (Status status = take_place_on_connection(descriptor); !status.ok()) {
    abort_job(job, kRefusedStatus, status.sentence());
  }
  return join_through_pmi(job, segment_sizes);
}

Status join_alone(Job& job) {
  job.job_id = random_u64();
  fill_random(job.secret);
  job.universe_size = 1;
  const ProcessorShare share = processor_share();
  job.crowded = are_crowded(job.options.text("wait", "auto"), 1, share);
  job.processors = share.processors;
  return take_rates(job);
}

// Who shares this rank's node, once node_of_rank is known.
void place_on_node(Job& job) {
  job.node = job.node_of_rank[job.rank];
  job.ranks_on_node = 0;
  job.local_rank = 0;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) {
    if (job.node_of_rank[rank] != job.node) continue;
    if (rank < job.rank) ++job.local_rank;
    ++job.ranks_on_node;
  }
}

Status join_somehow(Job& job, SegmentSizesOf segment_sizes) {
  if (std::getenv("MARGAY_BOARD_FD") != nullptr) return join_margay(job);
  if (std::getenv("PMI_FD") != nullptr) return join_foreign(job, segment_sizes);
  if (Status status = refuse_foreign_launcher([](const char* name) -> const char* { return std::getenv(name); });
      !status.ok()) {
    return status;
  }
  return join_alone(job);
}

}  // namespace

Status join(Job& out, SegmentSizesOf segment_sizes) {
  Job job;
  job.options = Options::from_environment(environ);
  if (Status status = job.options.check(); !status.ok()) return status;
  job.trace_dir = job.options.text("trace");
  job.tcp_interface = job.options.text("iface");
  if (Status status = join_somehow(job, segment_sizes); !status.ok()) return status;
  place_on_node(job);
  if (job.launcher != Launcher::kMargay && job.rank == 0) {  // margay's has told it
    for (const std::string& sentence : job.options.misspelt()) std::fprintf(stderr, "margay: %s\n", sentence.c_str());
  }
  out = std::move(job);
  return {};
}

}  // namespace margay::sim
