// Requests by modules between contexts: nexus_modules CASE..., with the choice of modules on the command line.
#include <margay/nexus.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "cases.hpp"

namespace {

using namespace margay::nexus;
using cases::need, cases::need_error;

// A door of one context: requests that have come, and the next expected number, by context.
struct Door {
  std::uint64_t came = 0;
  std::uint64_t bytes = 0;
  std::vector<int> next = std::vector<int>(static_cast<std::size_t>(contexts()));
  bool in_order = true;
};

// The doors of all contexts. The own endpoint lives as long as this.
struct Doors {
  Doors() : endpoint(&door) {
    register_handler("knock", [](Endpoint& at, Buffer& buffer) {
      Door& own = at.local<Door>();
      int& next = own.next.at(static_cast<std::size_t>(buffer.get<int>()));
      const int number = buffer.get<int>();
      own.in_order = own.in_order && number >= next;
      next = number + 1;
      const auto body = buffer.get<std::vector<std::uint8_t>>();
      for (std::size_t i = 0; i < body.size(); ++i)
        need(body[i] == static_cast<std::uint8_t>(i / 16), "the sent bytes");
      own.bytes += body.size();
      ++own.came;
    });
    all = exchange(Startpoint(endpoint));
  }
  Startpoint& after(int distance = 1) { return all[static_cast<std::size_t>((context() + distance) % contexts())]; }
  // All contexts have come here. Serves meanwhile.
  void meet() { static_cast<void>(exchange(Startpoint(endpoint))); }
  Door door;
  Endpoint endpoint;
  std::vector<Startpoint> all;
};

Buffer knock(int number, std::size_t bytes) {
  std::vector<std::uint8_t> body(bytes);
  for (std::size_t i = 0; i < bytes; ++i) body[i] = static_cast<std::uint8_t>(i / 16);
  return Buffer().put(context()).put(number).put(body);
}

const ModuleFacts& facts(const std::vector<ModuleFacts>& all, const std::string& name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const ModuleFacts& one) { return one.name == name; });
  need(at != all.end(), "a module " + name);
  return *at;
}

std::uint64_t statistic(const std::string& module, const std::string& name) {
  const std::vector<ModuleFacts> all = modules();
  for (const auto& [found, value] : facts(all, module).statistics) {
    if (found == name) return value;
  }
  need(false, "a statistic " + name);
  return 0;
}

// Requests by udp, with each 7th frame lost on purpose: 86 of 100 come, and the law holds.
void lossy() {
  Doors doors;
  doors.after().require({.ordered = false, .reliable = false});
  doors.after().force("udp");
  for (int i = 0; i < 100; ++i) {
    send(doors.after(), "knock", knock(i, 100)).check();
    // No more under way than a socket holds.
    if (i % 10 == 9)
      wait_until([&] { return doors.door.came + 4 >= static_cast<std::uint64_t>(i) * 6 / 7; }, Depends::anything);
  }
  wait_until([&] { return doors.door.came == 86; }, Depends::anything);
  need(statistic("udp", "sent") == 100, "100 sent messages");
  need(statistic("udp", "delivered") == 86 && statistic("udp", "lost") == 14, "86 delivered and 14 lost messages");
  need_error("is fixed", [] { set_parameter("udp", "receive_buffer", "100000"); });
  set_parameter("udp", "linger_ms", "20");
  need(statistic("udp", "dropped") == 0 && statistic("udp", "unauthenticated") == 0, "no dropped message");
  doors.meet();
}

// One send to the doors of all other contexts, by one datagram.
void multicast() {
  Doors doors;
  if (context() == 0) {
    Startpoint others;
    for (int i = 1; i < contexts(); ++i) others.bind(doors.all[static_cast<std::size_t>(i)]);
    others.require({.ordered = false, .reliable = false});
    others.force("multicast");
    for (std::size_t link = 0; link < others.links(); ++link) need(others.method(link) == "multicast", "multicast");
    for (int i = 0; i < 10; ++i) send(others, "knock", knock(i, 1000)).check();
    need(statistic("multicast", "sent") == 10, "one message for each request");
  } else {
    wait_until([&] { return doors.door.came == 10; }, Depends::anything);
    need(statistic("multicast", "delivered") == 10, "10 delivered messages");
  }
  doors.meet();
}

// Bodies that are compressed, then encrypted.
void transforms() {
  Doors doors;
  doors.after().put_before("compressed");
  doors.after().put_before("secure");
  for (int i = 0; i < 20; ++i) send(doors.after(), "knock", knock(i, static_cast<std::size_t>(i) * 5000)).check();
  wait_until([&] { return doors.door.came == 20; });
  need(doors.door.in_order, "the order of requests");
  need(statistic("compressed", "plain_bytes") > 4 * statistic("compressed", "compressed_bytes"), "shorter bodies");
  need(statistic("secure", "sealed") == 20 && statistic("secure", "opened") == 20, "20 sealed bodies");
  need(statistic("secure", "refused") == 0, "none refused");
  doors.meet();
}

// By a rule, bodies that leave the node are encrypted; others are not.
void off_node() {
  Doors doors;
  for (int i = 0; i < contexts(); ++i) send(doors.after(i), "knock", knock(0, 100)).check();
  wait_until([&] { return doors.door.came == static_cast<std::uint64_t>(contexts()); });
  std::uint64_t by_tcp = 0;
  for (Startpoint& each : doors.all) by_tcp += each.method() == "tcp" ? 1 : 0;
  need(statistic("secure", "sealed") == by_tcp, "a sealed body for each context of another node");
  need(statistic("secure", "opened") == by_tcp, "as many opened ones");
  doors.meet();
}

// A loaded module carries all requests, in order: it is first in the table.
void loaded() {
  Doors doors;
  need(doors.after().method() == "fifo", "the loaded module, not " + doors.after().method());
  for (int i = 0; i < 500; ++i) send(doors.after(), "knock", knock(i, static_cast<std::size_t>(i) * 7)).check();
  // The next one may have come as well.
  wait_until([&] { return doors.door.came >= 500; }, Depends::anything);
  need(doors.door.in_order, "the order of requests");
  // Longer than the module's longest body: by another method.
  send(doors.after(), "knock", knock(500, 100000)).check();
  wait_until([&] { return doors.door.came == 501; }, Depends::anything);
  doors.meet();
}

// A handler sends more than the loaded module takes: the link moves to the next method, and its requests keep their
// order.
void overload() {
  constexpr int kEach = 400;
  Doors doors;
  static Startpoint* own = nullptr;
  own = &doors.all[static_cast<std::size_t>(context())];
  need(own->method() == "fifo", "the loaded module, not " + own->method());
  register_handler("burst", [](Endpoint&, Buffer&) {
    // A send in a handler polls nothing, so the pipe fills.
    for (int i = 0; i < kEach; ++i) send(*own, "knock", knock(i, 4000)).check();
  });
  const std::uint64_t changes = counts().changes;
  send(*own, "burst").check();
  wait_until([&] { return doors.door.came == kEach; }, Depends::anything);
  need(counts().changes == changes + 1 && own->method() == "local", "one change to the next method");
  need(doors.door.in_order && doors.door.next[static_cast<std::size_t>(context())] == kEach, "the order of requests");
  doors.meet();
}

// Bodies that are too long for a method once they are encrypted go by the next one.
void limit() {
  Doors doors;
  Startpoint& next = doors.after();
  next.require({.ordered = false, .reliable = false});
  next.put_before("secure");
  need(next.method() == "udp", "udp, not " + next.method());
  const auto most = static_cast<std::size_t>(facts(modules(), "udp").body_most);
  // Around the limit, with the buffer's own bytes.
  for (std::size_t less = 200; less > 0; less -= 20) send(next, "knock", knock(0, most - less)).check();
  need(next.method() != "udp", "another method, not " + next.method());
  doors.meet();
}

// A request that waits for a secure module when that fails does not leave the node by a method that is not secure.
void secret() {
  Doors doors;
  doors.after().require({.secure = true});
  need(doors.after().method() == "broken", "the secure module, not " + doors.after().method());
  send(doors.after(), "knock", knock(0, 100)).check();
  need_error("the line is cut", [] { wait_until([] { return false; }, Depends::anything); });
  need_error("is lost with its method broken", [] { wait_until([] { return false; }, Depends::anything); });
  doors.meet();
  need(doors.door.came == 0, "no request");
}

// Long bodies travel by the method of their link: the statistics of the wires are the test's.
void carried() {
  Doors doors;
  doors.after().force("tcp");
  for (int i = 0; i < 10; ++i) send(doors.after(), "knock", knock(i, 100'000)).check();
  wait_until([&] { return doors.door.came == 10; });
  const ModuleFacts tcp = facts(modules(), "tcp");
  need(tcp.polls != 0 && tcp.hits != 0 && tcp.sent >= 10, "the polls of tcp");
  doors.meet();
}

// The interval of tcp is that of the settings, which is the kernel's; requests that wait on a wire whose polling is off
// arrive before the end.
void polling() {
  static Doors doors;
  need(facts(modules(), "tcp").skip_poll == 20, "the interval of the settings");
  set_skip_poll("tcp", 7);
  need(facts(modules(), "tcp").skip_poll == 7, "the interval of the call");
  doors.meet();
  set_polling("tcp", false);
  for (Startpoint& each : doors.all) send(each, "knock", knock(0, 10)).check();
}

// A forwarder passes on by itself, although the table of the final context names a further forwarder for the other
// method.
void chain() {
  need(contexts() == 6, "six contexts on two nodes");
  forward("tcp", 3, {5});
  forward("shm", 4, {5});
  Doors doors;
  send(doors.all[5], "knock", knock(0, 10)).check();
  if (context() == 5) wait_until([&] { return doors.door.came == 6; });
  doors.meet();
}

// A change that one link of a startpoint rejects changes none of its links. Contexts 0 and 1 are on one node, 2 and 3
// on another one.
void all_or_none() {
  Doors doors;
  Startpoint both;
  const std::size_t neighbour = static_cast<std::size_t>(context() ^ 1);
  const std::size_t remote = static_cast<std::size_t>(context() ^ 2);
  both.bind(doors.all[neighbour]);
  both.bind(doors.all[remote]);
  send(both, "knock", knock(0, 10)).check();
  const auto is_forced = [&](const std::string& method) {
    for (const MethodRow& row : both.methods(0)) {
      if (row.method == method) return row.is_forced;
    }
    return false;
  };
  need_error("the link to context " + std::to_string(remote), [&] { both.force("shm"); });
  need(!is_forced("shm") && both.method(0) == "shm" && both.method(1) == "tcp", "neither link is forced");
  // The first link could meet the demand inside of its node.
  Quality secure;
  secure.secure = true;
  need_error("without encryption", [&] { both.require(secure); });
  need(!both.quality().secure, "no link has the demand");
  send(both, "knock", knock(1, 10)).check();
  wait_until([&] { return doors.door.came == 4; });
  need(doors.door.in_order, "in order");
  doors.meet();
}

// Prints the order of this context's modules, and one parameter.
void chosen() {
  std::string line = "context " + std::to_string(context()) + ":";
  for (const ModuleFacts& one : modules()) {
    line += " " + one.name;
    for (const auto& [name, value] : one.parameters) line += name == "linger_ms" ? "=" + value : "";
  }
  std::printf("%s\n", line.c_str());
}

constexpr cases::Case kCases[] = {{"lossy", lossy},
                                  {"multicast", multicast},
                                  {"transforms", transforms},
                                  {"off_node", off_node},
                                  {"loaded", loaded},
                                  {"chosen", chosen},
                                  {"overload", overload},
                                  {"limit", limit},
                                  {"carried", carried},
                                  {"polling", polling},
                                  {"chain", chain},
                                  {"secret", secret},
                                  {"all_or_none", all_or_none}};

}  // namespace

int main(int argc, char** argv) {
  init(argc, argv);
  const int status = cases::run(argc, argv, kCases);
  finish();
  return status;
}
