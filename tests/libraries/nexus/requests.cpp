// Requests of Nexus between all contexts: nexus_requests CASE...
#include <margay/nexus.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cases.hpp"

namespace {

using namespace margay::nexus;
using cases::need, cases::need_error;

// Waits until all contexts are here, by requests of the test's own.
void meet() {
  thread_local int here_count = 0;
  thread_local bool is_registered = false;
  if (!is_registered) register_handler("meet", [](Endpoint&, Buffer&) { ++here_count; });
  is_registered = true;
  const Endpoint place;
  std::vector<Startpoint> all = exchange(Startpoint(place));
  for (Startpoint& each : all) send(each, "meet").check();
  wait_until([] { return here_count >= contexts(); });
  here_count -= contexts();
  // The endpoint stays until no context has a request for it under way: each of them is here.
  static_cast<void>(exchange(Startpoint(place)));
}

void values() {
  struct Seen {
    int count = 0;
  } seen;
  register_handler("values", [](Endpoint& endpoint, Buffer& buffer) {
    need(buffer.next_type() == Type::int8 && buffer.next_count() == 1, "the type and the count of the next put");
    need(buffer.get<std::int8_t>() == -3 && buffer.get<std::uint64_t>() == ~std::uint64_t{0}, "integers");
    need(buffer.get<float>() == 1.5F && buffer.get<double>() == -0.25 && buffer.get<bool>(), "numbers");
    need_error("10 of int32", [&] { static_cast<void>(buffer.get<int>()); });
    need_error("some of float64", [&] { static_cast<void>(buffer.get<std::vector<double>>()); });
    const std::vector<int> numbers = buffer.get<std::vector<int>>();
    need(numbers.size() == 10 && numbers[9] == 9, "a vector");
    need(buffer.get<std::string>() == "text" && buffer.get<std::string>().empty(), "texts");
    need(buffer.get<std::vector<std::byte>>() == std::vector<std::byte>(3, std::byte{7}), "bytes");
    need(buffer.at_end(), "the end");
    need_error("at the end", [&] { static_cast<void>(buffer.get<int>()); });
    need_error("put into a copy", [&] { buffer.put(1); });
    buffer.rewind();
    need(buffer.get<std::int8_t>() == -3, "the first put again");
    ++endpoint.local<Seen>().count;
  });
  const Endpoint endpoint(&seen);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  std::vector<int> numbers(10);
  for (int i = 0; i < 10; ++i) numbers[static_cast<std::size_t>(i)] = i;
  Buffer buffer;
  buffer.put(std::int8_t{-3}).put(~std::uint64_t{0}).put(1.5F).put(-0.25).put(true).put(numbers).put("text").put("");
  buffer.put(std::vector<std::byte>(3, std::byte{7}));
  for (Startpoint& each : all) send(each, "values", buffer).check();
  wait_until([&] { return seen.count == contexts(); });
  meet();
}

// Each context sends numbered requests to each; they arrive once and in order.
void flood() {
  constexpr int kEach = 3000;
  struct Seen {
    std::vector<int> next;
    int count = 0;
  } seen;
  seen.next.resize(static_cast<std::size_t>(contexts()));
  register_handler("flood", [](Endpoint& endpoint, Buffer& buffer) {
    Seen& local = endpoint.local<Seen>();
    const auto from = static_cast<std::size_t>(buffer.get<int>());
    need(buffer.get<int>() == local.next[from]++, "the order of the sender");
    ++local.count;
  });
  const Endpoint endpoint(&seen);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  const Counts before = counts();
  for (int i = 0; i < kEach; ++i) {
    for (Startpoint& each : all) send(each, "flood", Buffer().put(context()).put(i)).check();
  }
  wait_until([&] { return seen.count == kEach * contexts(); });
  need(counts().sent - before.sent == static_cast<std::uint64_t>(kEach * contexts()), "the count of sent requests");
  meet();
}

void long_bodies() {
  int count = 0;
  register_handler("long", [](Endpoint& endpoint, Buffer& buffer) {
    const auto seed = buffer.get<std::uint32_t>();
    const std::vector<std::uint32_t> values = buffer.get<std::vector<std::uint32_t>>();
    std::minstd_rand random(seed);
    for (const std::uint32_t value : values) need(value == random(), "each number of a long body");
    ++endpoint.local<int>();
  });
  const Endpoint endpoint(&count);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  const std::vector<std::size_t> sizes{0, 1, 4000, 4093, 4094, 4095, 4096, 5000, 300'000, 2'000'000};
  for (const std::size_t size : sizes) {
    const auto seed = static_cast<std::uint32_t>(size + static_cast<std::size_t>(context()) + 1);
    std::minstd_rand random(seed);
    std::vector<std::uint32_t> values(size);
    for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random());
    for (Startpoint& each : all) send(each, "long", Buffer().put(seed).put(values)).check();
  }
  wait_until([&] { return count == static_cast<int>(sizes.size()) * contexts(); });
  meet();
}

// A startpoint passes all contexts in requests; each uses it; copies stay valid.
void travelling() {
  int used = 0;
  thread_local std::vector<Startpoint> next;
  thread_local std::vector<Startpoint> kept;
  register_handler("use", [](Endpoint& endpoint, Buffer& buffer) {
    need(buffer.get<std::string>() == "by", "the text");
    ++endpoint.local<int>();
  });
  register_handler("travel", [](Endpoint&, Buffer& buffer) {
    const int hops = buffer.get<int>();
    Startpoint traveller = buffer.get<Startpoint>();
    need(traveller.is_bound() && traveller.links() == 1, "a bound startpoint");
    send(traveller, "use", Buffer().put("by")).check();
    if (hops > 0) send(next[0], "travel", Buffer().put(hops - 1).put(traveller)).check();
    kept.push_back(std::move(traveller));
  });
  const Endpoint endpoint(&used);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  next = {all[static_cast<std::size_t>((context() + 1) % contexts())]};
  need(Startpoint(endpoint) == all[static_cast<std::size_t>(context())], "the own startpoint has come back");
  need(all[static_cast<std::size_t>(context())].local_address() == &used, "the local address");
  need(contexts() == 1 || all[static_cast<std::size_t>((context() + 1) % contexts())].local_address() == nullptr,
       "no local address elsewhere");
  for (const bool light : {false, true}) {
    Startpoint mine(endpoint);
    if (light) mine.make_light();
    send(next[0], "travel", Buffer().put(contexts() - 1).put(mine)).check();
  }
  wait_until([&] { return used == 2 * contexts(); });
  meet();
  need(kept.size() == static_cast<std::size_t>(2 * contexts()), "each context had each startpoint");
  need(std::count_if(kept.begin(), kept.end(), [](const Startpoint& each) { return each.is_light(); }) == contexts(),
       "light ones");
  used = 0;
  meet();
  for (Startpoint& each : kept) send(each, "use", Buffer().put("by")).check();
  wait_until([&] { return used == 2 * contexts(); });
  kept.clear();
  next.clear();
  meet();
}

// Startpoints that are merged, copied, compared; requests to several endpoints at once.
void links() {
  std::vector<int> counts(3);
  register_handler("count", [](Endpoint& endpoint, Buffer&) { ++endpoint.local<int>(); });
  const Endpoint first(&counts[0]), second(&counts[1]);
  auto third = std::make_unique<Endpoint>(&counts[2]);
  Startpoint all(first);
  all.bind(second);
  need(all.links() == 2 && all != Startpoint(first), "two links");
  Startpoint copy = all;
  need(copy == all, "a copy leads to the same endpoints");
  copy.bind(*third);
  copy.bind(copy);
  need(copy.links() == 6 && all.links() == 2, "a startpoint merged with itself");
  send(copy, "count").check();
  send(all, "count").check();
  wait_until([&] { return counts == std::vector<int>{3, 3, 2}; });
  Startpoint moved = std::move(copy);
  need(!copy.is_bound() && moved.links() == 6, "a moved startpoint");
  // A request for a destroyed endpoint is dropped, and does not reach the next endpoint of that number.
  Startpoint dead(*third);
  const std::uint32_t number = third->number();
  third.reset();
  third = std::make_unique<Endpoint>(&counts[2]);
  need(third->number() == number, "the number is used again");
  need(dead != Startpoint(*third), "another generation");
  need(dead.local_address() == nullptr, "no address of a destroyed endpoint");
  send(dead, "count").check();
  // Nor is its body awaited at the end.
  send(dead, "count", Buffer().put(std::vector<int>(10'000))).check();
  send(all, "count").check();
  wait_until([&] { return counts[1] == 4; });
  need(counts[2] == 2, "the new endpoint did not get the request");
  // All contexts at once.
  int total = 0;
  const Endpoint here(&total);
  Startpoint everyone;
  for (const Startpoint& each : exchange(Startpoint(here))) everyone.bind(each);
  send(everyone, "count").check();
  wait_until([&] { return total == contexts(); });
  // As many links as a startpoint may have, in tables of some 100 bytes each.
  Startpoint most;
  while (most.links() < 4096) most.bind(here);
  need_error("4096 links", [&] { most.bind(here); });
  for (const Startpoint& each : exchange(most)) need(each.links() == 4096, "each link of a large startpoint");
  meet();
}

// 100,000 endpoints: each gets its requests.
void endpoints() {
  constexpr std::size_t kEndpoints = 100'000;
  std::vector<int> counts_of(kEndpoints);
  register_handler("one", [](Endpoint& endpoint, Buffer&) { ++endpoint.local<int>(); });
  std::vector<std::unique_ptr<Endpoint>> all;
  for (std::size_t i = 0; i < kEndpoints; ++i) all.push_back(std::make_unique<Endpoint>(&counts_of[i]));
  need(counts().endpoints >= kEndpoints, "the count of endpoints");
  // Every 97th, the first and the last.
  std::vector<Startpoint> own;
  for (std::size_t i = 0; i < kEndpoints; i += 97) own.emplace_back(*all[i]);
  own.emplace_back(*all.back());
  for (Startpoint& each : own) send(each, "one").check();
  wait_until([&] { return counts_of.back() == 1; });
  for (std::size_t i = 0; i < kEndpoints; ++i)
    need(counts_of[i] == (i % 97 == 0 || i + 1 == kEndpoints ? 1 : 0), "one request for endpoint " + std::to_string(i));
  int total = 0;
  const Endpoint place(&total);
  std::vector<Startpoint> lasts = exchange(Startpoint(*all.back()));
  for (Startpoint& each : lasts) send(each, "one").check();
  wait_until([&] { return counts_of.back() == 1 + contexts(); });
  meet();
}

// Handlers' sends never wait: at the bound they fail with a value.
void bounds() {
  thread_local bool was_full = false;
  thread_local std::vector<Startpoint> all;
  thread_local int done = 0;
  // Slower than any sender: a context that serves early does not keep its neighbour's queue from filling.
  register_handler("swallow", [](Endpoint&, Buffer&) { std::this_thread::sleep_for(std::chrono::microseconds(100)); });
  register_handler("done", [](Endpoint&, Buffer&) { ++done; });
  register_handler("burst", [](Endpoint&, Buffer&) {
    const Buffer buffer = std::move(Buffer().put(std::vector<std::byte>(10'000)));
    Startpoint& next = all[static_cast<std::size_t>((context() + 1) % contexts())];
    for (int i = 0; i < 100'000 && !was_full; ++i) {
      const Result result = send(next, "swallow", buffer);
      if (result.ok()) continue;
      need(result.failures[0].why == Failure::Why::full && result.failures[0].context == (context() + 1) % contexts(),
           "a full queue");
      need_error("MARGAY_NEXUS_QUEUE", [&] { result.check(); });
      was_full = true;
    }
    need_error("in a handler", [] { poll(); });
    need_error("in a handler", [] { wait_until([] { return true; }); });
    need_error("in a handler", [] { finish(); });
  });
  const Endpoint endpoint;
  all = exchange(Startpoint(endpoint));
  // All burst at once, while no context serves.
  send(all[static_cast<std::size_t>(context())], "burst").check();
  wait_until([] { return was_full; });
  for (Startpoint& each : all) send(each, "done").check();
  wait_until([] { return done == contexts(); });
  meet();
  all.clear();
}

// What only the receiver detects returns to the sender; exceptions of handlers are thrown where they ran.
void mistakes() {
  register_handler("throw", [](Endpoint&, Buffer& buffer) {
    throw std::runtime_error("refused " + std::to_string(buffer.get<int>()));
  });
  register_handler("throw_number", [](Endpoint&, Buffer&) { throw 3; });
  register_handler("wrong", [](Endpoint&, Buffer& buffer) { static_cast<void>(buffer.get<double>()); });
  const Endpoint endpoint;
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  Startpoint& next = all[static_cast<std::size_t>((context() + 1) % contexts())];
  send(next, "absent").check();
  need_error("context " + std::to_string((context() + 1) % contexts()) + " has no handler \"absent\"",
             [] { wait_until([] { return false; }); });
  const std::string from = std::to_string((context() + contexts() - 1) % contexts());
  meet();
  for (const auto& [name, text] : {std::pair<const char*, std::string>{"throw", "refused 5"},
                                   {"throw_number", "not a std::exception"},
                                   {"wrong", "1 of int32"}}) {
    // The handler runs inside send() of a context that sends to itself.
    send(next, name, Buffer().put(5)).check();
    need_error("the handler \"" + std::string(name) + "\", requested by context " + from + ", threw: ",
               [] { wait_until([] { return false; }); });
    meet();
  }
  Startpoint unbound;
  need_error("not bound", [&] { static_cast<void>(send(unbound, "x")); });
  need_error("is empty", [&] { static_cast<void>(send(next, "")); });
  need_error("64 bytes", [&] { static_cast<void>(send(next, std::string(64, 'x'))); });
  need_error("already registered", [] { register_handler("throw", [](Endpoint&, Buffer&) {}); });
  need_error("is empty", [] { register_handler("nothing", Handler()); });
  need_error("Options::threads", [] {
    register_handler(
        "threaded", [](Endpoint&, Buffer&) {}, Run::in_thread);
  });
  need_error("called twice", [] { init(); });
  need_error("no method \"fax\"", [&] { next.force("fax"); });
  need_error("no method \"fax\"", [&] { next.add("fax"); });
  need_error("no method \"fax\"", [&] { next.remove("fax"); });
  need_error("no method \"fax\"", [&] { next.reorder({"fax"}); });
  need_error("no transforming module \"fax\"", [&] { next.put_before("fax"); });
  need_error("no method \"fax\"", [] { set_polling("fax", true); });
  need_error("local is not polled", [] { set_skip_poll("local", 2); });
  need_error("local is not polled", [] { set_polling("local", false); });
  need_error("0 is invalid", [] { set_skip_poll("shm", 0); });
  need_error("not bound", [&] { unbound.force("shm"); });
  need_error("invalid link 1", [&] { static_cast<void>(next.methods(1)); });
  need_error("invalid context 99", [] { forward("tcp", 99, {0}); });
  need_error("cannot pass on its own", [] { forward("tcp", 0, {0}); });
  need_error("invalid context -1", [] { forward("tcp", -1, {0}); });
  meet();
}

// Tables, their order, and the choice of a method.
void tables() {
  const Endpoint endpoint;
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  Startpoint own(endpoint);
  need(own.method() == "local", "local for the own context");
  std::vector<MethodRow> rows = own.methods();
  need(rows.size() == 3 && rows[0].is_chosen && rows[0].why_not.empty() && !rows[1].why_not.empty(), "three rows");
  need_error("shm", [&] { own.force("shm"); });
  need(own.method() == "local" && !own.methods()[1].is_forced, "a failed force changes nothing");
  own.force("local");
  need(own.methods()[0].is_forced, "forced");
  need_error("automatic()", [&] { own.make_light(); });
  own.automatic();
  own.reorder({"tcp", "shm"});
  rows = own.methods();
  need(rows[0].method == "tcp" && rows[1].method == "shm" && rows[2].is_chosen, "the new order");
  own.remove("tcp");
  own.remove("shm");
  need_error("only method", [&] { own.remove("local"); });
  own.add("tcp");
  need(own.methods().size() == 2 && own.methods()[1].method == "tcp", "an added row");
  // Demands: a rate is reserved by each channel, and given back.
  Startpoint channel = own;
  const std::uint64_t rate = own.methods()[0].available_bytes_per_second;
  need(rate > 4, "local has a rate");
  channel.require({.bytes_per_second = rate / 2});
  need(own.methods()[0].available_bytes_per_second == rate - rate / 2, "what is left");
  Startpoint greedy = own;
  need_error("are demanded", [&] { greedy.require({.bytes_per_second = rate}); });
  channel.unbind();
  need(own.methods()[0].available_bytes_per_second == rate, "given back");
  greedy.require({.bytes_per_second = rate});
  need(greedy.methods()[0].is_chosen && greedy.methods()[0].why_not.empty(), "its own reserved rate");
  need(!own.methods()[0].available_bytes_per_second && !greedy.methods()[0].available_bytes_per_second, "none is left");
  need_error("latency", [&] { greedy.require({.latency_most_ns = 1}); });
  need(greedy.quality().bytes_per_second == rate, "a failed demand changes nothing");
  greedy.make_light();
  need(greedy.is_light() && greedy.methods().size() == 3, "the usual table");
  for (Startpoint& each : all) {
    const std::string text = explain(each);
    need(text.find("local") != std::string::npos && text.find("chosen by the next request") != std::string::npos,
         "an explanation");
    static_cast<void>(each.method());
    need(explain(each).find("chosen: the first applicable row") != std::string::npos, "the chosen row");
  }
  const std::vector<ModuleFacts> facts = modules();
  need(facts.size() >= 3 && facts[0].name == "local" && facts[1].is_reliable && !facts[1].is_polled, "the modules");
  meet();
}

// Links that change their method while requests are under way, on one node with two wires: nothing is lost or
// overtaken.
void moves() {
  constexpr int kEach = 600;
  struct Seen {
    std::vector<int> next;
    int count = 0;
  } seen;
  seen.next.resize(static_cast<std::size_t>(2 * contexts()));
  register_handler("moved", [](Endpoint& endpoint, Buffer& buffer) {
    Seen& local = endpoint.local<Seen>();
    const auto from = static_cast<std::size_t>(buffer.get<int>());
    need(buffer.get<int>() == local.next[from]++, "the order of the link");
    ++local.count;
  });
  const Endpoint endpoint(&seen);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  // Two channels to each other context: one by TCP throughout, one that changes.
  Startpoint& next = all[static_cast<std::size_t>((context() + 1) % contexts())];
  Startpoint fixed = next;
  fixed.force("tcp");
  std::minstd_rand random(static_cast<unsigned>(context() + 1));
  const Counts before = counts();
  bool is_tcp = false;
  for (int i = 0; i < kEach; ++i) {
    const std::size_t length = i % 100 == 99 ? 20'000 : 5;
    send(fixed, "moved", Buffer().put(context()).put(i)).check();
    send(next, "moved", Buffer().put(contexts() + context()).put(i).put(std::vector<int>(length))).check();
    if (random() % 8 != 0) continue;
    is_tcp = !is_tcp;
    next.reorder({is_tcp ? "tcp" : "shm"});
    need(next.method() == (is_tcp ? "tcp" : "shm") && fixed.method() == "tcp", "each channel has its method");
  }
  need(counts().changes - before.changes > 20, "the method has changed often");
  wait_until([&] { return seen.count == 2 * kEach; });
  // A copy is another link: it may overtake.
  meet();
  // The receiver of a startpoint alters its method, and the link's number is used again.
  for (int i = 0; i < 10; ++i) {
    Startpoint copy = next;
    copy.automatic();
    copy.reorder({"shm"});
    send(copy, "moved", Buffer().put(context()).put(kEach + 2 * i)).check();
    copy.force("tcp");
    send(copy, "moved", Buffer().put(context()).put(kEach + 2 * i + 1)).check();
    wait_until([&] { return seen.count >= 2 * kEach + 2 * (i + 1); });
    meet();
  }
}

// nexus_requests forwarding: on two nodes, the first context of the second node passes on TCP for the last one.
void forwarding() {
  need(contexts() == 4, "four contexts on two nodes");
  struct Seen {
    std::vector<int> next = std::vector<int>(4);
    int count = 0;
  } seen;
  register_handler("forwarded", [](Endpoint& endpoint, Buffer& buffer) {
    Seen& local = endpoint.local<Seen>();
    const auto from = static_cast<std::size_t>(buffer.get<int>());
    need(buffer.get<int>() == local.next[from]++, "the order of the sender");
    static_cast<void>(buffer.get<std::vector<int>>());
    ++local.count;
  });
  forward("tcp", 2, {3});
  const Endpoint endpoint(&seen);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  const Counts before = counts();
  meet();
  const bool is_away = context() < 2;
  if (is_away)
    need(all[3].methods()[2].forwarder == 2 && explain(all[3]).find("by forwarder 2") != std::string::npos,
         "the forwarder in the table");
  constexpr int kEach = 200;
  for (int i = 0; i < kEach; ++i)
    send(all[3], "forwarded", Buffer().put(context()).put(i).put(std::vector<int>(i % 50 == 0 ? 20'000 : 10))).check();
  if (context() == 3) wait_until([&] { return seen.count == 4 * kEach; });
  meet();
  // Each meeting has a request of each of the two.
  need(counts().forwarded - before.forwarded == (context() == 2 ? 2 * kEach + 4 : 0), "what context 2 has passed on");
}

// A startpoint whose table names a context that is no forwarder, and a context that passes on for one that has not
// agreed.
void wrong_forwarders() {
  need(contexts() == 4, "four contexts on two nodes");
  register_handler("unwanted", [](Endpoint&, Buffer&) { need(false, "no request by a wrong forwarder"); });
  const Endpoint endpoint;
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  if (context() == 0) {
    const Buffer honest = std::move(Buffer().put(all[3]));
    std::vector<std::byte> bytes(honest.bytes().begin(), honest.bytes().end());
    // The forwarder of the last row, which is TCP's, is the last number.
    const std::uint32_t liar = 2;
    std::memcpy(bytes.data() + bytes.size() - sizeof liar, &liar, sizeof liar);
    Buffer changed = Buffer::view(bytes);
    Startpoint by_liar = changed.get<Startpoint>();
    send(by_liar, "unwanted").check();
    need_error("context 2 refused a request of this context: this context passes on no requests for context 3",
               [] { wait_until([] { return false; }); });
  }
  if (context() == 2) need_error("refused a request of context 0", [] { wait_until([] { return false; }); });
  meet();
  // Context 3 agrees to another one.
  forward("tcp", 2, {context() == 3 ? 1 : 3});
  all = exchange(Startpoint(endpoint));
  if (context() == 1) {
    Startpoint agreed = all[3];
    const Buffer honest = std::move(Buffer().put(all[3]));
    std::vector<std::byte> bytes(honest.bytes().begin(), honest.bytes().end());
    const std::uint32_t forwarder = 2;
    std::memcpy(bytes.data() + bytes.size() - sizeof forwarder, &forwarder, sizeof forwarder);
    Buffer changed = Buffer::view(bytes);
    agreed = changed.get<Startpoint>();
    send(agreed, "unwanted").check();
  }
  if (context() == 3)
    need_error("context 2 passed it on, but is not a forwarder", [] { wait_until([] { return false; }); });
  if (context() == 2)
    need_error("context 3 refused a request of this context", [] { wait_until([] { return false; }); });
}

// Bytes that no startpoint has: each is refused, and none is read past its end.
void damage() {
  const Endpoint endpoint;
  const Buffer good = std::move(Buffer().put(Startpoint(endpoint)).put(5).put("text"));
  int refused = 0;
  for (std::size_t at = 0; at < good.bytes().size(); ++at) {
    for (const unsigned change : {1U, 0x80U, 0xffU}) {
      std::vector<std::byte> bytes(good.bytes().begin(), good.bytes().end());
      bytes[at] ^= static_cast<std::byte>(change);
      Buffer changed = Buffer::view(bytes);
      try {
        Startpoint startpoint = changed.get<Startpoint>();
        static_cast<void>(startpoint.methods());
        static_cast<void>(changed.get<int>());
        static_cast<void>(changed.get<std::string>());
      } catch (const error&) {
        ++refused;
      }
    }
    Buffer cut = Buffer::view(good.bytes().first(at));
    need_error("", [&] {
      static_cast<void>(cut.get<Startpoint>());
      static_cast<void>(cut.get<int>());
      static_cast<void>(cut.get<std::string>());
      fail("");
    });
  }
  need(refused > 30, "most changes are noticed");
  meet();
}

// Handlers in threads: they run while the program computes, several at a time, and may wait.
void threads() {
  const std::uint64_t before = counts().executed;
  struct Seen {
    std::atomic<int> begun{0}, ended{0};
  } seen;
  register_handler(
      "reply", [](Endpoint& endpoint, Buffer&) { ++endpoint.local<std::atomic<int>>(); }, Run::in_thread);
  register_handler(
      "ask",
      [](Endpoint& endpoint, Buffer& buffer) {
        Startpoint back = buffer.get<Startpoint>();
        Seen& local = endpoint.local<Seen>();
        ++local.begun;
        // Until another handler of this endpoint runs, too.
        wait_until([&] { return local.begun >= 2; }, Depends::anything);
        send(back, "reply").check();
        ++local.ended;
      },
      Run::in_thread);
  std::atomic<bool> has_failed{false};
  register_handler(
      "finish",
      [](Endpoint& to, Buffer&) {
        need_error("finish is called in a handler", [] { finish(); });
        to.local<std::atomic<bool>>() = true;
      },
      Run::in_thread);
  const Endpoint endpoint(&seen);
  const Endpoint finishing(&has_failed);
  std::atomic<int> answered{0};
  const Endpoint answer(&answered);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  Startpoint& next = all[static_cast<std::size_t>((context() + 1) % contexts())];
  send(next, "ask", Buffer().put(Startpoint(answer))).check();
  send(next, "ask", Buffer().put(Startpoint(answer))).check();
  // No call of Nexus serves meanwhile.
  while (answered < 2 || seen.ended < 2) std::this_thread::yield();
  Startpoint own(finishing);
  send(own, "finish").check();
  while (!has_failed) std::this_thread::yield();
  // The endpoints must outlive their handlers: of two requests, two replies, and the last one.
  while (counts().executed < before + 5) std::this_thread::yield();
  meet();
}

// After finish() Nexus may begin again; earlier startpoints are refused.
void again() {
  Endpoint endpoint;
  Startpoint old(endpoint);
  meet();
  finish();
  need_error("init() first", [] { poll(); });
  init();
  need_error("before the last init()", [&] { static_cast<void>(send(old, "meet")); });
  // A new endpoint has the number of the old one, whose startpoints would lead there.
  const Endpoint fresh;
  need(fresh.number() == endpoint.number(), "the number is used again");
  need_error("before the last init()", [&] { static_cast<void>(Startpoint(endpoint)); });
  meet();
}

constexpr cases::Case kCases[] = {
    {"values", values},         {"flood", flood},           {"long", long_bodies},
    {"travelling", travelling}, {"links", links},           {"endpoints", endpoints},
    {"bounds", bounds},         {"mistakes", mistakes},     {"tables", tables},
    {"moves", moves},           {"forwarding", forwarding}, {"wrong_forwarders", wrong_forwarders},
    {"damage", damage},         {"threads", threads},       {"again", again}};

}  // namespace

int main(int argc, char** argv) {
  init(argc, argv);
  const int status = cases::run(argc, argv, kCases);
  finish();
  return status;
}
