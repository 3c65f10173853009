// Context 1 kills itself at a place of Nexus: nexus_deaths PLACE. Each other context must get an `error`, or a value of
// send(), from the call that needs context 1, prints "node N: lost: MESSAGE", and exits with status 0; it prints
// nothing if no call fails. The error may name another context that had the error first and has left: it is as lost as
// a dead one.
#include <margay/nexus.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace margay::nexus;

namespace {

constexpr int kVictim = 1;

void die_if_victim() {
  if (context() == kVictim) static_cast<void>(raise(SIGKILL));
}

// Runs a part, and returns the text of its error.
template <class Part>
std::string error_of(Part&& part) {
  try {
    part();
  } catch (const error& lost) {
    return lost.what();
  }
  return {};
}

std::string lose(const std::string& place) {
  register_handler("die", [](Endpoint&, Buffer&) { die_if_victim(); });
  register_handler("nothing", [](Endpoint&, Buffer&) {});
  const Endpoint endpoint;
  std::vector<Startpoint> all;
  // The victim may be dead before the last context has its startpoint.
  if (std::string lost = error_of([&] { all = exchange(Startpoint(endpoint)); }); !lost.empty()) return lost;
  Startpoint& victim = all[kVictim];
  if (place == "exchange") {
    die_if_victim();
    return error_of([&] { static_cast<void>(exchange(Startpoint(endpoint))); });
  }
  if (place == "finish") {
    die_if_victim();
    return error_of([] { finish(); });
  }
  if (place == "wait") {
    die_if_victim();
    return error_of([] { wait_until([] { return false; }); });
  }
  if (place == "handler") {
    // Another context's request may have ended the victim before this one.
    return error_of([&] {
      send(victim, "die").check();
      wait_until([] { return false; });
    });
  }
  // "stream", "long": until a send returns the loss.
  const Buffer buffer = std::move(Buffer().put(std::vector<int>(place == "long" ? 50'000 : 10)));
  for (int i = 0;; ++i) {
    if (i == 100) die_if_victim();
    const Result result = send(victim, "nothing", buffer);
    if (!result.ok() && result.failures.front().why == Failure::Why::lost) return error_of([&] { result.check(); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  init(argc, argv);
  const int me = context();
  const std::string text = lose(argc > 1 ? argv[1] : "");
  if (!text.empty()) {
    std::printf("node %d: lost: %s\n", me, text.c_str());
    std::fflush(stdout);
  }
  // The others may still wait for this context's messages; they need none.
  std::_Exit(text.empty() ? 1 : 0);
}
