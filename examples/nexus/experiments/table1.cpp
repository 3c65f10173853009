// Table 1 of the Nexus paper: a model of the atmosphere and one of the ocean, on two partitions. Each model exchanges
// data among all of its contexts many times in a time step, as the transposes of a spectral model do. Every two steps,
// the models exchange data between them, which need the slow network.
//
//     table1 ATMOSPHERE STEPS EXCHANGES COMPUTE_US [selective|forward]
//
// ATMOSPHERE contexts form the one model, the others the other one. A step has EXCHANGES times COMPUTE_US of
// computation and an exchange. Prints `step_s SECONDS coupling_s SECONDS polls N hits N`: the seconds of one step, and
// of them those in which a context waited for the other model (the most of any); the polls are those of the slow
// network by all contexts.
//
// `selective`: the slow network is polled only while the models exchange data. `forward`: the first context of each
// model receives all messages of the other model, and passes them on; the others do not poll the slow network.
#include <ctime>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "contexts.hpp"

using namespace margay::nexus;

namespace {

// The bodies of an exchange inside a model, and of one between the models.
constexpr std::size_t kInnerBytes = 64, kOuterBytes = 4096;

struct Model {
  long inner = 0;  // messages so far
  long outer = 0;
  // The members of this model, and the contexts of the other one with which this one exchanges data.
  std::vector<int> members, partners;
};

// A time of computation, during which nothing is polled.
void compute_us(long us) {
  const timespec time{us / 1'000'000, us % 1'000'000 * 1'000};
  nanosleep(&time, nullptr);
}

void send_to(std::vector<Startpoint>& all, const std::vector<int>& contexts, const char* handler, const Buffer& body) {
  // Each context begins with the one after itself, so that not all send to the first one at once.
  const auto first = std::find_if(contexts.begin(), contexts.end(), [](int each) { return each > context(); });
  const auto shift = first - contexts.begin();
  const auto count = static_cast<std::ptrdiff_t>(contexts.size());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const int to = contexts[static_cast<std::size_t>((i + shift) % count)];
    if (to != context()) send(all[static_cast<std::size_t>(to)], handler, body).check();
  }
}

// The two models: contexts below `atmosphere`, and the others. Each context of the larger model exchanges data with one
// of the smaller model.
Model model_of(int atmosphere) {
  Model model;
  const int ocean = contexts() - atmosphere;
  const bool is_atmosphere = context() < atmosphere;
  const int begin = is_atmosphere ? 0 : atmosphere;
  for (int i = begin; i < (is_atmosphere ? atmosphere : contexts()); ++i) model.members.push_back(i);
  for (int i = 0; i < std::max(atmosphere, ocean); ++i) {
    const int one = i % atmosphere, other = atmosphere + i % ocean;
    if (one == context()) model.partners.push_back(other);
    if (other == context()) model.partners.push_back(one);
  }
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  const Libraries libraries(argc, argv);
  if (argc < 5 || std::atoi(argv[1]) <= 0 || std::atoi(argv[1]) >= contexts()) {
    std::fprintf(stderr, "use: margay run -n N table1 ATMOSPHERE STEPS EXCHANGES COMPUTE_US [selective|forward]\n");
    return 1;
  }
  const int atmosphere = std::atoi(argv[1]);
  const int steps = std::atoi(argv[2]);
  const int exchanges = std::atoi(argv[3]);
  const long us = std::atol(argv[4]);
  const std::string variant = argc > 5 ? argv[5] : "";
  register_handler("inner", [](Endpoint& endpoint, Buffer&) { ++endpoint.local<Model>().inner; });
  register_handler("outer", [](Endpoint& endpoint, Buffer&) { ++endpoint.local<Model>().outer; });
  Model me = model_of(atmosphere);
  if (variant == "forward") {
    std::vector<int> one, other;
    for (int i = 1; i < contexts(); ++i) {
      if (i != atmosphere) (i < atmosphere ? one : other).push_back(i);
    }
    forward("tcp", 0, one);
    forward("tcp", atmosphere, other);
  }
  const Endpoint endpoint(&me);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  MPI_Barrier(MPI_COMM_WORLD);
  const bool is_polling_off = variant == "selective" || (variant == "forward" && context() != me.members.front());
  if (is_polling_off) MPIX_Margay_polling("tcp", 0);
  const SlowPolls before = slow_polls();
  const double begin = MPI_Wtime();
  double coupling_s = 0;
  const Buffer inner = body_of(kInnerBytes), outer = body_of(kOuterBytes);
  long inner_due = 0, outer_due = 0;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < exchanges; ++i) {
      compute_us(us);
      send_to(all, me.members, "inner", inner);
      inner_due += static_cast<long>(me.members.size()) - 1;
      wait_until([&] { return me.inner >= inner_due; });
    }
    if (step % 2 == 0) continue;
    // The data of the step before travel while this one computes: they were sent at its end, and are due now.
    const double since = MPI_Wtime();
    if (variant == "selective") MPIX_Margay_polling("tcp", 1);
    wait_until([&] { return me.outer >= outer_due; });
    if (variant == "selective") MPIX_Margay_polling("tcp", 0);
    send_to(all, me.partners, "outer", outer);
    outer_due += static_cast<long>(me.partners.size());
    coupling_s += MPI_Wtime() - since;
  }
  double step_s = (MPI_Wtime() - begin) / steps;
  const SlowPolls after = slow_polls();
  unsigned long long polls[2] = {after.polls - before.polls, after.hits - before.hits};
  MPIX_Margay_polling("tcp", 1);
  wait_until([&] { return me.outer >= outer_due; });
  coupling_s /= steps;
  MPI_Allreduce(MPI_IN_PLACE, &step_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &coupling_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, polls, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (context() == 0)
    std::printf("step_s %.6f coupling_s %.6f polls %llu hits %llu\n", step_s, coupling_s, polls[0], polls[1]);
  return 0;
}
