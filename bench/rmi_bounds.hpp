// The bounds of RMI's latency: a request and its answer through the host's interface alone, and between threads of one
// process an atomic word that goes back and forth.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "margay/host.hpp"

namespace bench {

namespace host = margay::host;
namespace portals = margay::portals;

inline void need(const portals::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.sentence().c_str());
  std::exit(1);
}

// A library of one portal, to which words of 8 bytes are sent. Construction and end() are collective.
class Echo {
 public:
  Echo() {
    static constexpr std::array<host::NamedPortal, 1> kPortals{{{kPortal, "words"}}};
    need(host::join({"echo", kPortals, {}, {}}, rank_));
    const host::Call call(*rank_, "echo");
    list_.append(entry_);
    need(rank_->attach(kPortal, list_));
    need(rank_->barrier(call.name()));
  }
  void end() {
    {
      const host::Call call(*rank_, "echo");
      need(rank_->barrier(call.name()));
      rank_->detach(kPortal);
    }
    rank_->end();
  }

  // Sends a word to `peer` and waits for its answer, as a synchronous call does.
  void ask(portals::Rank peer) {
    const host::Call call(*rank_, "echo");
    send(peer);
    wait(peer);
  }
  // Answers `count` words of `peer`, in one call, as a node in a fence does.
  void answer(portals::Rank peer, int count) {
    const host::Call call(*rank_, "echo");
    for (int i = 0; i < count; ++i) {
      wait(peer);
      send(peer);
    }
  }

 private:
  static constexpr portals::PortalIndex kPortal = 53;

  void send(portals::Rank peer) {
    portals::Header header;
    header.portal = kPortal;
    header.destination = {0, peer};
    if (!rank_->try_send(header, portals::Region(&sent_, sizeof sent_))) need(portals::Status::error("no room"));
  }
  void wait(portals::Rank peer) {
    const host::Wait wait{.call = "echo", .peer = peer, .messages = 1};
    need(host::wait_until(*rank_, wait, [this] { return row_.state == portals::IndependentBuffer::State::filled; }));
    block_.release(0);
  }

  host::Rank* rank_ = nullptr;
  std::uint64_t sent_ = 1, received_ = 0;
  portals::IndependentBuffer row_{portals::Region(&received_, sizeof received_), {}};
  portals::IndependentBlock block_{{&row_, 1}, portals::Progression::circular};
  portals::MatchEntry entry_{{.ignore_bits = ~portals::MatchBits{0}}, block_, {}};
  // Declared after its entry, which leaves it when it ends.
  portals::MatchList list_;
};

// One word that two threads write in turn.
struct Flag {
  alignas(64) std::atomic<std::uint32_t> word{0};

  // Both sides; `first`: the one that begins.
  void go_back_and_forth(bool first, int count) {
    for (int i = 0; i < count; ++i) {
      const auto turn = static_cast<std::uint32_t>(2 * i);
      if (first) {
        word.store(turn + 1, std::memory_order_release);
        while (word.load(std::memory_order_acquire) != turn + 2) {
        }
      } else {
        while (word.load(std::memory_order_acquire) != turn + 1) {
        }
        word.store(turn + 2, std::memory_order_release);
      }
    }
  }
};

}  // namespace bench
