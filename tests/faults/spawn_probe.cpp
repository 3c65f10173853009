// Starts processes in places and ends some on purpose, without MPI: by sim::PmiClient, as a library may.
//
//   spawn_probe             rank 0 starts two sleepers and one that ends, ends the sleepers, and starts another one
//   spawn_probe sleep       sleeps until it is ended
//   spawn_probe end         joins the job and leaves it
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "sim/boot/join.hpp"
#include "sim/boot/pmi_client.hpp"

using namespace margay::sim;

namespace {

std::string started_text(const Status& status, const Spawned& started) {
  std::string text = status.ok() ? "started in" : "refused: " + status.sentence();
  for (const std::uint32_t place : started.places) text += " " + std::to_string(place);
  return text;
}

int run(Job& job, const char* program) {
  Spawned started;
  SpawnLines request;
  request.commands = {{2, program, {"sleep"}, {}}, {1, program, {"end"}, {}}};
  Status status = job.pmi->spawn(request, started);
  std::printf("%s\n", started_text(status, started).c_str());
  if (!status.ok()) return 3;
  status = job.pmi->kill({started.places[0], started.places[1]});
  std::printf("%s\n", status.ok() ? "ended" : status.sentence().c_str());
  // A place that never had a process.
  std::printf("%s\n", job.pmi->kill({static_cast<std::uint32_t>(job.size - 1)}).sentence().c_str());
  request.commands = {{1, program, {"end"}, {}}};
  status = job.pmi->spawn(request, started);
  std::printf("%s\n", status.ok() ? "started again" : status.sentence().c_str());
  return leave(job).ok() ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "sleep") == 0) ::pause();
  Job job;
  if (Status status = join(job, nullptr); !status.ok()) {
    std::fprintf(stderr, "probe: %s\n", status.sentence().c_str());
    return 3;
  }
  if (argc > 1) return job.pmi->init().ok() && leave(job).ok() ? 0 : 3;
  return run(job, argv[0]);
}
