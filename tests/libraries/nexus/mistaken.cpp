// Programs that end in a report of the launcher: nexus_mistaken wait | die | destroy.
#include <margay/nexus.hpp>

#include <csignal>
#include <memory>
#include <string>

using namespace margay::nexus;

int main(int argc, char** argv) {
  init(argc, argv);
  const std::string mistake = argc > 1 ? argv[1] : "";
  const Endpoint endpoint;
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  if (mistake == "die" && context() == 1) static_cast<void>(raise(SIGKILL));
  if (mistake == "destroy") {
    static auto victim = std::make_unique<Endpoint>();
    register_handler("destroy", [](Endpoint&, Buffer&) { victim.reset(); });
    Startpoint own(*victim);
    send(own, "destroy").check();
  }
  wait_until([] { return false; });
  finish();
}
