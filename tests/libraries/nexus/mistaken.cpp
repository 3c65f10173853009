// Programs that end in a report of the launcher: nexus_mistaken wait | die | destroy | destroy_elsewhere.
#include <margay/nexus.hpp>

#include <csignal>
#include <memory>
#include <string>
#include <thread>

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
  if (mistake == "destroy_elsewhere") {
    auto victim = std::make_unique<Endpoint>();
    std::thread([&victim] { victim.reset(); }).join();
    finish();
    return 0;
  }
  wait_until([] { return false; });
  finish();
}
