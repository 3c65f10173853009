// Each context greets context 0, and prints how its requests travel.
#include <margay/nexus.hpp>

#include <cstdio>

using namespace margay::nexus;

int main(int argc, char** argv) {
  int greetings = 0;
  register_handler("greet", [](Endpoint& endpoint, Buffer& buffer) {
    const int from = buffer.get<int>();
    std::printf("context %d says %s\n", from, buffer.get<std::string>().c_str());
    ++endpoint.local<int>();
  });
  init(argc, argv);
  Endpoint door(&greetings);
  // The startpoints of all doors, by context.
  std::vector<Startpoint> doors = exchange(Startpoint(door));
  send(doors[0], "greet", Buffer().put(context()).put("hello")).check();
  if (context() == 0) wait_until([&] { return greetings == contexts(); });
  if (context() == contexts() - 1) nexus_explain(doors[0]);
  finish();
}
