// Uses of the host that must fail: each prints the message of its failure, or ends the process with one.
#include <margay/host.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

using namespace margay;

namespace {

constexpr std::array<host::NamedPortal, 1> kFree{{{53, "a free portal"}}};
constexpr std::array<host::NamedPortal, 1> kOther{{{54, "another one"}}};
constexpr std::array<host::NamedPortal, 1> kOfMpi{{{0, "MPI's receives"}}};
constexpr std::array<host::NamedPortal, 1> kOfRmi{{{48, "requests of rmi"}}};
constexpr std::array<const char*, 17> kTooManyCounters{};
constexpr std::array kSentAndTaken{"sent", "taken"};
constexpr std::array<host::EqualCounters, 1> kEqual{{{0, 1}}};
constexpr host::Quotient kQuotient{0, 2};
constexpr std::array<host::NamedBits, 1> kBitsOfMpi{{{0, 1, 0, "a message"}}};

// Whether the join fails; a success is undone.
bool fails(const host::Library& library) {
  host::Rank* rank = nullptr;
  const portals::Status status = host::join(library, rank);
  std::printf("%s: %s\n", library.name, status.ok() ? "joined" : status.sentence().c_str());
  if (rank != nullptr) rank->end();
  return !status.ok();
}

// Joins with invalid descriptions, and joins that conflict with those of other libraries.
int join_cases() {
  bool all = fails({"mpis", kOfMpi, {}, {}}) && fails({"another", kOfRmi, {}, {}}) &&
             fails({"a_name_that_is_too_long", kFree, {}, {}}) && fails({"counters", kFree, kTooManyCounters, {}}) &&
             fails({"pair", kFree, {}, {}, {}, kEqual}) &&
             fails({"quotient", kFree, kSentAndTaken, {}, {}, {}, kQuotient}) &&
             fails({"bits", kFree, {}, {}, kBitsOfMpi});
  host::Rank* first = nullptr;
  all = all && host::join({"first", kFree, {}, {}}, first).ok();
  all =
      all && fails({"first", kOther, {}, {}}) && fails({"second", kFree, {}, {}}) && !fails({"third", kOther, {}, {}});
  first->end();
  // After the end of the last library the rank is dormant; a new one resumes it.
  all = all && !fails({"again", kFree, {}, {}});
  return all ? 0 : 1;
}

int send_without_observer(host::Rank* rank) {
  // To this rank itself, and longer than a wire takes at once.
  std::vector<std::byte> body(1 << 20);
  host::Outgoing message;
  message.header.portal = 53;
  message.header.destination = {0, rank->rank()};
  message.body = portals::Region(body.data(), body.size());
  {
    const host::Call call(*rank, "misuse");
    rank->send(message);
    const auto status =
        host::wait_until(*rank, {.call = "misuse"}, [&] { return rank->state(message) == host::SendState::sent; });
    if (!status.ok()) return 1;
  }
  rank->end();
  return 0;
}

// Rank 1 sends more than the heap of rank 0 has room for, and both wait for messages.
void fill_heap(host::Rank* rank) {
  const host::Call call(*rank, "misuse");
  alignas(64) std::array<std::byte, 1024> memory{};
  portals::DynamicBlock heap{portals::Buffer{memory.data(), memory.size()}};
  portals::MatchEntry entry{{}, heap, {}};
  portals::MatchList list;
  list.append(entry);
  if (!rank->attach(53, list).ok() || !rank->barrier("misuse").ok()) return;
  rank->hold_when_no_room(53);
  portals::Header header;
  header.portal = 53;
  header.destination = {0, 0};
  int sent = 0;
  static_cast<void>(host::wait_until(*rank, {.call = "misuse"}, [&] {
    std::array<std::byte, 256> body{};
    if (rank->rank() == 1 && sent < 8 && rank->try_send(header, portals::Region(body.data(), body.size()))) ++sent;
    return false;
  }));
}

// Counters that are declared equal, and are not.
int count_unequal() {
  host::Rank* rank = nullptr;
  if (!host::join({"unequal", kFree, kSentAndTaken, {}, {}, kEqual}, rank).ok()) return 1;
  rank->counter(0) = 3;
  rank->counter(1) = rank->rank() == 0 ? 2 : 3;
  rank->end();
  return 0;
}

// A message that is destroyed before its receiver, which never makes progress, has taken it.
void destroy_queued(host::Rank* rank) {
  const host::Call call(*rank, "misuse");
  if (rank->rank() != 0) pause();
  std::vector<std::byte> body(1 << 24);
  host::Outgoing message;
  message.header.portal = 53;
  message.header.destination = {0, 1};
  message.body = portals::Region(body.data(), body.size());
  rank->send(message);
}

// Observers that remove each other, all at once, while they are notified: the first one removes the others.
int remove_observers(host::Rank* rank) {
  struct Remover : host::Observer {
    host::Rank* rank = nullptr;
    std::array<Remover, 4>* all = nullptr;
    int notified = 0;
    void notify() override {
      ++notified;
      for (Remover& each : *all) rank->observe_rounds(each, false);
    }
  };
  std::array<Remover, 4> removers;
  int notified = 0;
  {
    const host::Call call(*rank, "misuse");
    for (Remover& each : removers) {
      each.rank = rank;
      each.all = &removers;
      rank->observe_rounds(each, true);
    }
    for (int i = 0; i < 10; ++i) rank->progress();
    for (const Remover& each : removers) notified += each.notified;
  }
  rank->end();
  return notified == 1 ? 0 : 1;
}

// An attach() to a portal of MPI, and to one that another library could have.
int attach_elsewhere(host::Rank* rank) {
  {
    const host::Call call(*rank, "misuse");
    portals::MatchList list;
    for (const portals::PortalIndex portal : {portals::PortalIndex{12}, portals::PortalIndex{54}}) {
      if (rank->attach(portal, list).ok()) return 1;
    }
    if (!rank->attach(53, list).ok()) return 1;
    rank->detach(53);
  }
  rank->end();
  return 0;
}

// An observer that is destroyed after the library's end.
int end_with_observer(host::Rank* rank) {
  struct Nothing : host::Observer {
    void notify() override {}
  };
  auto observer = std::make_unique<Nothing>();
  {
    const host::Call call(*rank, "misuse");
    rank->observe_rounds(*observer, true);
  }
  rank->end();
  observer.reset();
  // Rounds of the next library do not call the destroyed observer.
  if (!host::join({"next", kFree, {}, {}}, rank).ok()) return 1;
  rank->end();
  return 0;
}

// Sets the polling of the wire to the other rank, and what must fail of it. The polls are counted.
int poll_wires(host::Rank* rank) {
  bool holds = true;
  {
    const host::Call call(*rank, "misuse");
    host::PollCounts before, off, after;
    holds = rank->set_poll_interval("shm", "4").ok() && rank->poll_counts("shm", before).ok() && before.interval == 4;
    for (const char* interval : {"0", "-1", "often", ""})
      holds = holds && !rank->set_poll_interval("shm", interval).ok();
    holds = holds && !rank->set_poll_interval("smh", "4").ok() && !rank->set_polling("smh", true).ok() &&
            !rank->poll_counts("smh", after).ok() && !rank->set_poll_interval("shm", "block").ok();
    const auto poll = [&] {
      for (int round = 0; round < 400; ++round) static_cast<void>(rank->progress());
    };
    poll();
    holds = holds && rank->poll_counts("shm", after).ok() && after.polls >= before.polls + 100;
    holds =
        holds && rank->set_polling("shm", false).ok() && rank->poll_counts("shm", before).ok() && before.interval == 0;
    poll();
    holds = holds && rank->poll_counts("shm", off).ok() && off.polls == before.polls;
    holds = holds && rank->set_polling("shm", true).ok() && rank->set_poll_interval("shm", "1").ok();
    holds = holds && rank->barrier("misuse").ok();
  }
  rank->end();
  std::printf("polling: %s\n", holds ? "holds" : "fails");
  return holds ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "join") return join_cases();
  if (mode == "foreign") {
    host::Rank* rank = nullptr;
    const portals::Status status = host::join({"foreign", kFree, {}, {}}, rank);
    std::printf("%s\n", status.sentence().c_str());
    return status.ok() ? 1 : 0;
  }
  if (mode == "unequal") return count_unequal();
  host::Rank* rank = nullptr;
  if (!host::join({"misuse", kFree, {}, {}}, rank).ok()) return 1;
  if (mode == "no_end") return 0;
  if (mode == "abort") rank->abort(5, "the test ends the job");
  if (mode == "lost") {
    const host::Call call(*rank, "misuse");
    if (rank->rank() == 1) raise(SIGKILL);
    const portals::Status status = host::wait_until(*rank, {.call = "misuse", .peer = 1}, [] { return false; });
    return status.ok() ? 0 : 1;
  }
  if (mode == "polling") return poll_wires(rank);
  if (mode == "outgoing") return send_without_observer(rank);
  if (mode == "observer") return end_with_observer(rank);
  if (mode == "attach") return attach_elsewhere(rank);
  if (mode == "rounds") return remove_observers(rank);
  if (mode == "destroyed") destroy_queued(rank);
  if (mode == "held") fill_heap(rank);
  const host::Call call(*rank, "misuse");
  if (mode == "counter") rank->counter(0) = 1;
  if (mode == "hold") rank->hold_when_no_room(54);
  portals::Header header;
  header.portal = 53;
  header.destination = {0, rank->rank()};
  if (mode == "portal") header.portal = 0;
  if (mode == "rank") header.destination.rank = 99;
  static_cast<void>(rank->try_send(header, portals::Region()));
  return 1;
}
