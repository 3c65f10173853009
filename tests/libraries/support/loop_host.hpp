// A host of contexts that are threads of one program, with queues in place of wires: for tests of the core of Nexus
// without a job. One lock is the process lock of all. Each pair of ranks has one queue for each way, from which the
// receiver takes at random, so messages of a pair and way stay in order, and all others do not. Ranks of one node have
// the ways shm and tcp. Or one context alone, whose messages a script makes, for fuzzing.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/libraries/support/test_host.hpp"
#include "tests/libraries/support/test_rank.hpp"

namespace margay::testing {

class LoopJob;

class LoopRank final : public PortalsRank {
 public:
  LoopRank(LoopJob& job, portals::Rank me, std::uint32_t size) : PortalsRank(me, size), job_(job) {}
  // Makes this rank the only one that runs: what it sends is dropped, and `feed` adds messages by inject() when nothing
  // else arrives. When it returns false, all other ranks are lost.
  void set_script(std::function<bool()> feed) { feed_ = std::move(feed); }
  void inject(const portals::Header& header, std::span<const std::byte> body) {
    Message& message = arriving_[{header.source.rank, host::Way::usual}].emplace_back();
    message.header = header;
    message.header.length = body.size();
    message.body.assign(body.begin(), body.end());
  }
  // Loses a way to a peer; messages under way still arrive.
  void lose(portals::Rank peer, const char* wire) { lost_ways_.insert({peer, find_way(peer, wire).way}); }
  // Drops the messages to a peer that are under way by a way.
  void drop(portals::Rank peer, const char* wire);

  [[nodiscard]] bool on_node(portals::Rank peer) const override;
  void enter(const char* /*name*/, const void* /*caller*/) override { lock(); }
  void leave(const char* /*name*/) override { unlock(); }
  void lock() override;
  void unlock() override;
  [[nodiscard]] bool try_send(const portals::Header& header, const portals::Region& body) override {
    return try_send_by(host::Way::usual, header, body);
  }
  void send(host::Outgoing& message) override;
  [[nodiscard]] host::SendState state(const host::Outgoing& message) const override;
  bool progress() override;
  [[nodiscard]] portals::Status wait(const host::Wait& wait, bool (*done)(void*), void* argument) override;
  [[nodiscard]] portals::Status barrier(const char* call) override;
  void begin_barrier() override;
  [[nodiscard]] bool in_barrier() override;
  [[nodiscard]] bool lost(portals::Rank peer) const override { return is_exhausted_ && peer != rank(); }
  [[nodiscard]] std::string loss(portals::Rank /*peer*/) const override { return "the script is over"; }
  void run_program(void (*function)(void*), void* argument) override;
  [[nodiscard]] std::vector<host::WayRow> ways(portals::Rank peer) const override {
    return {find_way(peer, "self"), find_way(peer, "shm"), find_way(peer, "tcp")};
  }
  [[nodiscard]] host::WayRow find_way(portals::Rank peer, const char* wire) const override;
  [[nodiscard]] bool try_send_by(host::Way way, const portals::Header& header, const portals::Region& body) override;
  [[nodiscard]] bool way_lost(portals::Rank peer, host::Way way) const override {
    return lost(peer) || lost_ways_.contains({peer, way});
  }
  [[nodiscard]] std::string way_loss(portals::Rank /*peer*/, host::Way /*way*/) const override {
    return "the test loses it";
  }

 private:
  friend class LoopJob;
  struct Message {
    portals::Header header;
    std::vector<std::byte> body;
  };
  using Source = std::pair<portals::Rank, host::Way>;
  static constexpr host::Way kSelf{1}, kShm{2}, kTcp{3};
  // Delivers the first message from a rank by a way. Returns false if there is none, or no room for it.
  bool deliver(Source source);

  LoopJob& job_;
  std::map<Source, std::deque<Message>> arriving_;
  std::set<Source> lost_ways_;
  std::uint64_t barrier_ = 0;
  std::function<bool()> feed_;
  bool is_exhausted_ = false;
};

// The job. Ranks below half of it lie on one node, the others on another one, unless `nodes` is 1.
class LoopJob {
 public:
  LoopJob(std::uint32_t ranks, std::uint64_t seed, std::uint32_t nodes) : random_(seed), nodes_(nodes) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) ranks_.push_back(std::make_unique<LoopRank>(*this, rank, ranks));
  }
  // Runs `program` in each rank.
  void run(const std::function<void(std::uint32_t)>& program);
  [[nodiscard]] LoopRank& rank(std::uint32_t rank) { return *ranks_[rank]; }
  // The rank of the calling thread.
  [[nodiscard]] static LoopRank& mine() { return static_cast<LoopRank&>(*TestHost::mine); }

 private:
  friend class LoopRank;
  // Messages in a queue, above which a sender is refused.
  static constexpr std::size_t kQueueMost = 16;
  static constexpr std::uint64_t kIdleMost = 3'000'000;
  std::mutex lock_;
  std::mt19937_64 random_;
  std::uint32_t nodes_;
  std::vector<std::unique_ptr<LoopRank>> ranks_;
  std::uint32_t in_barrier_ = 0;
  std::uint64_t barriers_ = 0;
  std::uint64_t idle_ = 0;
};

inline bool LoopRank::on_node(portals::Rank peer) const {
  const std::uint32_t half = (size() + 1) / 2;
  return job_.nodes_ == 1 || (peer < half) == (rank() < half);
}
inline void LoopRank::lock() {
  job_.lock_.lock();
}
inline void LoopRank::unlock() {
  job_.lock_.unlock();
}

inline host::WayRow LoopRank::find_way(portals::Rank peer, const char* wire) const {
  const std::string name = wire;
  const bool is_own = peer == rank();
  if (name == "self") return {"self", kSelf, is_own ? "" : "it is another rank", 16384, is_own};
  if (name == "shm")
    return {"shm", kShm, !is_own && on_node(peer) ? "" : "it is on another node, or this rank", 16384, !is_own};
  if (name == "tcp") return {"tcp", kTcp, is_own ? "it is this rank" : "", 16384, !is_own && !on_node(peer)};
  return {wire, host::Way::usual, "margay has no wire of this name", 0, false};
}

inline bool LoopRank::try_send_by(host::Way way, const portals::Header& header, const portals::Region& body) {
  if (feed_ && header.destination.rank != rank()) return true;
  std::deque<Message>& queue = job_.rank(header.destination.rank).arriving_[{rank(), way}];
  if (queue.size() >= LoopJob::kQueueMost || (!feed_ && job_.random_() % 8 == 0)) return false;
  Message& message = queue.emplace_back();
  message.header = header;
  message.header.source = {0, rank()};
  message.header.length = body.bytes();
  message.body.resize(body.bytes());
  portals::RegionCursor(body).read(message.body);
  return true;
}

inline void LoopRank::drop(portals::Rank peer, const char* wire) {
  job_.rank(peer).arriving_[{rank(), find_way(peer, wire).way}].clear();
}

inline void LoopRank::send(host::Outgoing& message) {
  if (feed_ && message.header.destination.rank != rank()) return;
  std::deque<Message>& queue = job_.rank(message.header.destination.rank).arriving_[{rank(), message.way}];
  Message& sent = queue.emplace_back();
  sent.header = message.header;
  sent.header.source = {0, rank()};
  sent.header.length = message.body.bytes();
  sent.body.resize(message.body.bytes());
  portals::RegionCursor(message.body).read(sent.body);
}

inline host::SendState LoopRank::state(const host::Outgoing& /*message*/) const {
  return job_.random_() % 4 == 0 ? host::SendState::sent : host::SendState::queued;
}

inline bool LoopRank::deliver(Source source) {
  std::deque<Message>& queue = arriving_[source];
  if (queue.empty()) return false;
  Message& message = queue.front();
  const portals::Verdict verdict = deposit(message.header, message.body);
  if (verdict.outcome == portals::Outcome::drop && verdict.reason == portals::DropReason::no_room) return false;
  if (verdict.outcome == portals::Outcome::reply) {
    Message dropped;
    Message& reply = feed_ && source.first != rank()
                         ? dropped
                         : job_.rank(source.first).arriving_[{rank(), source.second}].emplace_back();
    reply.header.kind = portals::Kind::reply;
    reply.header.portal = message.header.return_portal;
    reply.header.match_bits = message.header.return_match_bits;
    reply.header.offset = message.header.return_offset;
    reply.header.source = {0, rank()};
    reply.header.length = verdict.landing.bytes();
    reply.body.resize(verdict.landing.bytes());
    portals::RegionCursor(verdict.landing).read(reply.body);
  }
  if (verdict.outcome != portals::Outcome::drop) complete(verdict, message.header);
  queue.pop_front();
  notify_observers();
  return true;
}

inline bool LoopRank::progress() {
  bool moved = false;
  for (std::uint32_t i = 0; i < 6; ++i)
    moved =
        deliver({static_cast<portals::Rank>(job_.random_() % size()), static_cast<host::Way>(job_.random_() % 4)}) ||
        moved;
  if (moved) job_.idle_ = 0;
  if (!moved && feed_ && !is_exhausted_) is_exhausted_ = !feed_();
  return moved;
}

inline portals::Status LoopRank::wait(const host::Wait& wait, bool (*done)(void*), void* argument) {
  while (!done(argument)) {
    static_cast<void>(progress());
    if (is_exhausted_ && !progress() && !done(argument))
      return portals::Status::error(std::string(wait.call) + ": the script is over");
    if (++job_.idle_ > LoopJob::kIdleMost)
      abort(1, std::string("nothing moves; rank ") + std::to_string(rank()) + " in " + wait.call);
    unlock();
    sched_yield();
    lock();
  }
  return {};
}

inline void LoopRank::begin_barrier() {
  if (feed_) return;
  barrier_ = job_.barriers_;
  if (++job_.in_barrier_ == size()) {
    job_.in_barrier_ = 0;
    ++job_.barriers_;
  }
}
inline bool LoopRank::in_barrier() {
  return !feed_ && job_.barriers_ == barrier_;
}
inline portals::Status LoopRank::barrier(const char* call) {
  begin_barrier();
  return host::wait_until(*this, {.call = call}, [this] { return !in_barrier(); });
}

inline void LoopRank::run_program(void (*function)(void*), void* argument) {
  unlock();
  function(argument);
  lock();
}

inline void LoopJob::run(const std::function<void(std::uint32_t)>& program) {
  std::vector<std::thread> threads;
  for (const auto& each : ranks_) {
    threads.emplace_back([&program, rank = each.get()] {
      TestHost::mine = rank;
      program(rank->rank());
    });
  }
  for (std::thread& each : threads) each.join();
}

}  // namespace margay::testing
