#include "counter.hpp"

#include <margay/host.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace counter {
namespace {

using namespace margay;
using portals::Buffer, portals::Header, portals::MatchBits, portals::Region;

// One portal serves both directions; match bits distinguish them.
constexpr portals::PortalIndex kPortal = 53;
constexpr MatchBits kRequest = 1, kAnswer = 2;

// The words of traces and of `--stats`.
enum Event : std::uint8_t { kAsks, kAnswers };
enum Count : std::size_t { kAdditions, kAnswered };
constexpr std::array<host::NamedPortal, 1> kPortals{{{kPortal, "requests and answers"}}};
constexpr std::array kCounters{"additions", "requests answered"};
constexpr std::array kEvents{"asks {peer} to add {detail} to its counter", "answers {peer}: its counter was {detail}"};
constexpr host::Library kLibrary{"counter", kPortals, kCounters, kEvents};

void need(const portals::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "counter: %s\n", status.sentence().c_str());
  std::exit(1);
}

// The library on this rank. The match list has two entries: the answer to this rank's own request goes to a single
// block, and requests of other ranks to a heap, where they queue until serve().
class Service {
 public:
  explicit Service(host::Rank& rank) : rank_(rank) {
    list_.append(answers_);
    list_.append(requests_);
    need(rank_.table().attach(kPortal, list_));
    // A full heap holds its senders back instead of losing their requests.
    rank_.hold_when_no_room(kPortal);
  }
  ~Service() { rank_.table().detach(kPortal); }

  std::int64_t add(portals::Rank peer, std::int64_t amount) {
    rank_.counter(kAdditions) += 1;
    rank_.record({.number = kAsks, .peer = peer, .detail = static_cast<std::uint64_t>(amount)});
    const std::uint64_t before = answer_.messages();
    bool is_sent = false;
    // While it waits, this rank answers the others: two ranks that ask each other would wait forever otherwise.
    need(host::wait_until(rank_, {.call = "counter::add", .peer = peer}, [&] {
      serve();
      if (!is_sent) is_sent = send(peer, kRequest, amount);
      return answer_.messages() != before;
    }));
    return earlier_value_;
  }

  // A request whose answer the wire cannot take stays in the heap until the next call.
  void serve() {
    for (portals::ArrivedMessage* next = heap_.first(); next != nullptr && next->complete; next = heap_.first()) {
      const portals::Rank peer = next->header.source.rank;
      // A rank that is gone gets no answer, but its request counts, and its room in the heap is freed.
      if (!rank_.lost(peer) && !send(peer, kAnswer, value_)) return;
      rank_.record({.number = kAnswers, .peer = peer, .detail = static_cast<std::uint64_t>(value_)});
      rank_.counter(kAnswered) += 1;
      value_ += *reinterpret_cast<const std::int64_t*>(next->body.base);
      heap_.release(*next);
    }
  }

  [[nodiscard]] host::Rank& rank() { return rank_; }

 private:
  bool send(portals::Rank peer, MatchBits bits, std::int64_t number) {
    Header header;
    header.portal = kPortal;
    header.destination = {0, peer};
    header.match_bits = bits;
    return rank_.try_send(header, Region(&number, sizeof number));
  }

  host::Rank& rank_;
  std::int64_t value_ = 0;
  std::int64_t earlier_value_ = 0;
  portals::SingleBlock answer_{Buffer{reinterpret_cast<std::byte*>(&earlier_value_), sizeof earlier_value_}};
  alignas(64) std::array<std::byte, 65536> memory_;
  portals::DynamicBlock heap_{Buffer{memory_.data(), memory_.size()}};
  portals::MatchEntry answers_{{.match_bits = kAnswer}, answer_, {.offset_by = portals::OffsetBy::sender}};
  portals::MatchEntry requests_{{.match_bits = kRequest}, heap_, {}};
  // Declared after its entries, which leave it when it ends.
  portals::MatchList list_;
};

std::unique_ptr<Service> service;

}  // namespace

void open() {
  host::Rank* joined = nullptr;
  need(host::join(kLibrary, joined));
  const host::Call call(*joined, "counter::open");
  service = std::make_unique<Service>(*joined);
  // No rank sends before every portal is attached.
  need(joined->barrier(call.name()));
}

void close() {
  host::Rank& joined = service->rank();
  {
    const host::Call call(joined, "counter::close");
    // The others may still ask this rank, until all of them have called.
    joined.begin_barrier();
    need(host::wait_until(joined, {.call = call.name()}, [&] {
      service->serve();
      return !joined.in_barrier();
    }));
    service.reset();
  }
  joined.end();
}

int rank() {
  return static_cast<int>(service->rank().rank());
}

int size() {
  return static_cast<int>(service->rank().size());
}

std::int64_t add(int rank, std::int64_t amount) {
  const host::Call call(service->rank(), "counter::add");
  return service->add(static_cast<portals::Rank>(rank), amount);
}

void serve() {
  const host::Call call(service->rank(), "counter::serve");
  service->rank().progress();
  service->serve();
}

}  // namespace counter
