// Figure 3 of the Nexus paper: a startpoint migrates, and selects the fast method. Context 1 sends a startpoint of
// its endpoint to context 2, which has only the slow network in common with it. Context 2 uses it and sends it on to
// context 0, which is on the fast network of context 1.
//
// Prints a line for each request: the context that made it, and its method.
#include "contexts.hpp"

using namespace margay::nexus;

namespace {

constexpr int kOwner = 1, kFar = 2, kNear = 0;

struct Here {
  int greetings = 0;
  bool has_moved = false;
  Startpoint moved;
};

void use(Startpoint& startpoint) {
  send(startpoint, "greet").check();
  std::printf("context %d method %s\n", context(), startpoint.method().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const Libraries libraries(argc, argv);
  if (contexts() != 3) {
    std::fprintf(stderr, "figure3: %d contexts; use 3, the last one on a node (or in a partition) of its own\n",
                 contexts());
    return 1;
  }
  register_handler("greet", [](Endpoint& endpoint, Buffer&) { ++endpoint.local<Here>().greetings; });
  register_handler("move", [](Endpoint& endpoint, Buffer& buffer) {
    endpoint.local<Here>().moved = buffer.get<Startpoint>();
    endpoint.local<Here>().has_moved = true;
  });
  Here here;
  const Endpoint endpoint(&here);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  if (context() == kOwner) {
    send(all[kFar], "move", Buffer().put(Startpoint(endpoint))).check();
    wait_until([&] { return here.greetings == 2; });
  } else if (context() == kFar) {
    wait_until([&] { return here.has_moved; });
    use(here.moved);
    send(all[kNear], "move", Buffer().put(here.moved)).check();
  } else {
    wait_until([&] { return here.has_moved; });
    use(here.moved);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
