// A program that joins its job as MPI_Init does, without MPI, and prints what it finds: its rank and size, whether all
// ranks of its node share one memory, and whether cards pass between ranks. Options: "unopenable" keeps other processes
// from opening this one's descriptors, as a container would.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "sim/boot/board.hpp"
#include "sim/boot/join.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/wire/shm/shm_layout.hpp"

using namespace margay::sim;

namespace {

// Each rank writes its number at its position in the segment; after the barrier it adds up those of its node.
std::string sum_of_node(const Job& job, Status (*barrier)(const Job&)) {
  if (job.node_segment_fd < 0) return "alone";
  void* address = ::mmap(nullptr, job.node_segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job.node_segment_fd, 0);
  if (address == MAP_FAILED) return "cannot map";
  auto* numbers = static_cast<unsigned*>(address);
  numbers[job.local_rank] = job.rank + 1;
  if (Status status = barrier(job); !status.ok()) return status.sentence();
  unsigned sum = 0;
  for (unsigned i = 0; i < job.ranks_on_node; ++i) sum += numbers[i];
  return std::to_string(sum);
}

// The processes of the world on this node; its other places have none.
unsigned ranks_here(const Job& job) {
  unsigned count = 0;
  for (unsigned rank = 0; rank < job.world_size(); ++rank) count += job.node_of_rank[rank] == job.node;
  return count;
}

int fail(const Status& status) {
  std::fprintf(stderr, "probe: %s\n", status.sentence().c_str());
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "unopenable") == 0) ::prctl(PR_SET_DUMPABLE, 0);
  Job job;
  if (Status status = join(job, shm_segment_sizes); !status.ok()) return fail(status);
  const auto barrier = [](const Job& of) { return of.pmi != nullptr ? of.pmi->barrier() : Status(); };
  std::string last = "none";
  if (job.pmi != nullptr) {
    if (Status status = job.pmi->put_card(std::string(3000, 'x') + std::to_string(job.rank)); !status.ok())
      return fail(status);
  }
  const std::string sum = sum_of_node(job, barrier);
  if (sum == "alone") {
    if (Status status = barrier(job); !status.ok()) return fail(status);
  }
  if (job.pmi != nullptr) {
    if (Status status = job.pmi->get_card(job.world_size() - 1, last); !status.ok()) return fail(status);
    last.erase(0, 3000);
  }
  if (argc > 1 && std::strcmp(argv[1], "abort") == 0 && job.rank == 1) abort_job(job, 42, "no more fuel");
  if (argc > 1 && std::strcmp(argv[1], "abort") == 0) ::sleep(60);
  if (Status status = leave(job); !status.ok()) return fail(status);
  std::printf("rank %u of %u node %u of %u local %u of %u sum %s last card %s appnum %u secret %d\n", job.rank,
              job.world_size(), job.node, job.node_count, job.local_rank, ranks_here(job), sum.c_str(), last.c_str(),
              job.appnum, std::to_integer<int>(job.secret[0]));
  return 0;
}
