#include "counter.hpp"

#include <margay/host.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace counter {
namespace {

using namespace margay;
using portals::Buffer, portals::Region;

// One portal serves both directions; match bits distinguish them. The same numbers are the indices of the words below.
constexpr portals::PortalIndex kPortal = 53;
enum Message : std::uint8_t { kRequest, kAnswer };

// The words of traces and of `--stats`.
constexpr std::array<host::NamedPortal, 1> kPortals{{{kPortal, "requests and answers"}}};
constexpr std::array kCounters{"additions", "requests answered"};
constexpr std::array kEvents{"asks {peer} to add {detail} to its counter", "answers {peer}: its counter was {detail}"};
constexpr std::array<host::NamedBits, 2> kBits{
    {{kPortal, kRequest, 0, "a request"}, {kPortal, kAnswer, 0, "an answer"}}};
// Every addition is answered.
constexpr std::array<host::EqualCounters, 1> kEqual{{{kRequest, kAnswer}}};
constexpr host::Library kLibrary{"counter", kPortals, kCounters, kEvents, kBits, kEqual};

// The library on this rank. The match list has two entries: the answer to this rank's own request goes to a single
// block, and requests of other ranks to a heap, where they queue until answer_all().
struct Service {
  host::Rank& rank;
  std::int64_t value = 0, earlier_value = 0;
  portals::SingleBlock answer{Buffer{reinterpret_cast<std::byte*>(&earlier_value), sizeof earlier_value}};
  alignas(64) std::array<std::byte, 65536> memory{};
  portals::DynamicBlock heap{Buffer{memory.data(), memory.size()}};
  portals::MatchEntry answers{{.match_bits = kAnswer}, answer, {.offset_by = portals::OffsetBy::sender}};
  portals::MatchEntry requests{{.match_bits = kRequest}, heap, {}};
  // Declared after its entries, which leave it when it ends.
  portals::MatchList list{};
};
std::unique_ptr<Service> me;

void need(const portals::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "counter: %s\n", status.sentence().c_str());
  std::exit(1);
}

// Whether the wire has taken the message, which is then counted and recorded.
bool send(portals::Rank peer, Message message, std::int64_t number) {
  portals::Header header;
  header.portal = kPortal;
  header.destination = {0, peer};
  header.match_bits = message;
  if (!me->rank.try_send(header, Region(&number, sizeof number))) return false;
  me->rank.counter(message) += 1;
  const auto detail = static_cast<std::uint64_t>(number);
  me->rank.record({.number = message, .peer = peer, .detail = detail, .of_sent = true});
  return true;
}

// A request whose answer the wire cannot take stays in the heap until the next call.
void answer_all() {
  while (portals::ArrivedMessage* const next = me->heap.first()) {
    const portals::Rank peer = next->header.source.rank;
    // A lost rank gets no answer, but its request counts, and its room in the heap is freed.
    if (!next->complete || (!me->rank.lost(peer) && !send(peer, kAnswer, me->value))) return;
    me->value += *reinterpret_cast<const std::int64_t*>(next->body.base);
    me->heap.release(*next);
  }
}

}  // namespace

void open() {
  host::Rank* joined = nullptr;
  need(host::join(kLibrary, joined));
  const host::Call call(*joined, "counter::open");
  me.reset(new Service{*joined});
  me->list.append(me->answers);
  me->list.append(me->requests);
  need(joined->attach(kPortal, me->list));
  joined->name_entry(kPortal, me->answers, "answers");
  joined->name_entry(kPortal, me->requests, "requests");
  // A full heap holds its senders back instead of losing their requests.
  joined->hold_when_no_room(kPortal);
  // No rank sends before every portal is attached.
  need(joined->barrier(call.name()));
}

void close() {
  {
    const host::Call call(me->rank, "counter::close");
    // The others may still ask this rank, until all of them have called.
    me->rank.begin_barrier();
    need(host::wait_until(me->rank, {.call = call.name()}, [] {
      answer_all();
      return !me->rank.in_barrier();
    }));
    // It also ends if a rank is lost.
    need(me->rank.end_barrier(call.name()));
  }
  // Detaches the portal.
  me->rank.end();
  me.reset();
}

int rank() {
  return static_cast<int>(me->rank.rank());
}
int size() {
  return static_cast<int>(me->rank.size());
}

std::int64_t add(int rank, std::int64_t amount) {
  const host::Call call(me->rank, "counter::add");
  const auto peer = static_cast<portals::Rank>(rank);
  const std::uint64_t before = me->answer.messages();
  bool is_sent = false;
  // While it waits, this rank answers the others: two ranks that ask each other would wait forever otherwise.
  need(host::wait_until(me->rank, {.call = call.name(), .peer = peer}, [&] {
    answer_all();
    if (!is_sent) is_sent = send(peer, kRequest, amount);
    return me->answer.messages() != before;
  }));
  return me->earlier_value;
}

void serve() {
  const host::Call call(me->rank, "counter::serve");
  me->rank.progress();
  answer_all();
}

}  // namespace counter
