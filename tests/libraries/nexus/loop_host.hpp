// A host of contexts that are threads of one program, with queues in place of wires: for tests of the core of Nexus
// without a job. One lock is the process lock of all. Each pair of ranks has one queue for each way, from which the
// receiver takes at random, so messages of a pair and way stay in order, and all others do not. Ranks of one node have
// the ways shm and tcp. Or one context alone, whose messages a script makes, for fuzzing.
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

#include "margay/host.hpp"
#include "portals/deliver.hpp"

namespace margay::testing {

class LoopJob;

class LoopRank final : public host::Rank {
 public:
  LoopRank(LoopJob& job, portals::Rank me) : job_(job), me_(me) {}
  // Makes this rank the only one that runs: what it sends is dropped, and `feed` adds messages by inject() when nothing
  // else arrives. When it returns false, all other ranks are lost.
  void set_script(std::function<bool()> feed) { feed_ = std::move(feed); }
  void inject(const portals::Header& header, std::span<const std::byte> body) {
    Message& message = arriving_[{header.source.rank, host::Way::usual}].emplace_back();
    message.header = header;
    message.header.length = body.size();
    message.body.assign(body.begin(), body.end());
  }
  void end() override {}
  [[nodiscard]] portals::Rank rank() const override { return me_; }
  [[nodiscard]] std::uint32_t size() const override;
  [[nodiscard]] std::uint32_t places() const override { return size(); }
  [[nodiscard]] bool has_process(portals::Rank /*place*/) const override { return true; }
  [[nodiscard]] bool has_left(portals::Rank /*place*/) const override { return false; }
  [[nodiscard]] portals::Status start_processes(const std::string& /*program*/, std::uint32_t /*count*/,
                                                std::vector<portals::Rank>& /*places*/) override {
    return portals::Status::error("the host of a test starts no processes");
  }
  [[nodiscard]] portals::Status end_processes(const std::vector<portals::Rank>& /*places*/) override {
    return portals::Status::error("the host of a test ends no processes");
  }
  void note_end(portals::Rank /*place*/) override {}
  [[nodiscard]] bool on_node(portals::Rank peer) const override;
  [[nodiscard]] std::span<const std::byte, 32> secret() const override { return secret_; }
  void enter(const char* name, const void* /*caller*/) override;
  void leave(const char* name) override;
  void begin_thread() override {}
  void lock() override;
  void unlock() override;
  [[nodiscard]] portals::Status attach(portals::PortalIndex portal, portals::MatchList& list) override {
    return table_.attach(portal, list);
  }
  [[nodiscard]] portals::Status attach(portals::PortalIndex portal, portals::Descriptor& memory,
                                       const portals::Options& options) override {
    return table_.attach(portal, memory, options);
  }
  void detach(portals::PortalIndex portal) override {
    table_.detach(portal);
    observers_.clear();
  }
  void name_entry(portals::PortalIndex /*portal*/, const portals::MatchEntry& /*entry*/,
                  const char* /*name*/) override {}
  void wake(portals::Rank /*peer*/) override {}
  void hold_when_no_room(portals::PortalIndex /*portal*/) override {}
  [[nodiscard]] bool try_send(const portals::Header& header, const portals::Region& body) override;
  void send(host::Outgoing& message) override;
  [[nodiscard]] host::SendState state(const host::Outgoing& message) const override;
  void expect_answer(portals::Rank /*peer*/) override {}
  void count_answer(portals::Rank /*peer*/) override {}
  void observe(portals::Descriptor& /*descriptor*/, host::Observer* observer) override {
    if (observer != nullptr) observers_.insert(observer);
  }
  void observe_rounds(host::Observer& /*observer*/, bool /*on*/) override {}
  void observe_losses(host::Observer& /*observer*/, bool /*on*/) override {}
  bool progress() override;
  [[nodiscard]] portals::Status wait(const host::Wait& wait, bool (*done)(void*), void* argument) override;
  [[nodiscard]] portals::Status barrier(const char* call) override;
  void begin_barrier() override;
  [[nodiscard]] bool in_barrier() override;
  [[nodiscard]] portals::Status end_barrier(const char* /*call*/) override { return {}; }
  [[nodiscard]] bool lost(portals::Rank peer) const override { return is_exhausted_ && peer != me_; }
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
  [[nodiscard]] portals::Status move(portals::Rank /*peer*/, host::Way /*from*/, host::Way /*to*/) override {
    return {};
  }
  [[nodiscard]] portals::Status set_poll_interval(const std::string& /*wire*/,
                                                  const std::string& /*interval*/) override {
    return {};
  }
  [[nodiscard]] portals::Status set_polling(const std::string& /*wire*/, bool /*on*/) override { return {}; }
  [[nodiscard]] portals::Status poll_counts(const std::string& /*wire*/, host::PollCounts& /*out*/) override {
    return {};
  }
  // Loses a way to a peer; messages under way still arrive.
  void lose(portals::Rank peer, const char* wire) { lost_ways_.insert({peer, find_way(peer, wire).way}); }
  // Drops the messages to a peer that are under way by a way.
  void drop(portals::Rank peer, const char* wire);
  [[nodiscard]] bool recording() const override { return false; }
  void record(const host::Event& /*event*/) override {}
  [[nodiscard]] std::uint64_t& counter(std::size_t index) override { return counters_.at(index); }
  [[noreturn]] void abort(int /*code*/, const std::string& message) override {
    std::fprintf(stderr, "abort: %s\n", message.c_str());
    std::_Exit(1);
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
  const portals::Rank me_;
  std::array<std::byte, 32> secret_{};
  std::map<Source, std::deque<Message>> arriving_;
  std::set<Source> lost_ways_;
  std::set<host::Observer*> observers_;
  std::array<std::uint64_t, host::kCountersMost> counters_{};
  std::uint64_t barrier_ = 0;
  std::function<bool()> feed_;
  bool is_exhausted_ = false;
  portals::ChangedList changed_;
  portals::PortalTable table_;
  portals::Delivery delivery_{table_, changed_};
};

// The job. Ranks below half of it lie on one node, the others on another one, unless `nodes` is 1.
class LoopJob {
 public:
  LoopJob(std::uint32_t ranks, std::uint64_t seed, std::uint32_t nodes) : random_(seed), nodes_(nodes) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) ranks_.push_back(std::make_unique<LoopRank>(*this, rank));
  }
  // Runs `program` in each rank.
  void run(const std::function<void(std::uint32_t)>& program);
  [[nodiscard]] LoopRank& rank(std::uint32_t rank) { return *ranks_[rank]; }
  // The rank of the calling thread.
  static inline thread_local LoopRank* mine = nullptr;

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

inline std::uint32_t LoopRank::size() const {
  return static_cast<std::uint32_t>(job_.ranks_.size());
}
inline bool LoopRank::on_node(portals::Rank peer) const {
  const std::uint32_t half = (size() + 1) / 2;
  return job_.nodes_ == 1 || (peer < half) == (me_ < half);
}
inline void LoopRank::enter(const char* /*name*/, const void* /*caller*/) {
  job_.lock_.lock();
}
inline void LoopRank::leave(const char* /*name*/) {
  job_.lock_.unlock();
}
inline void LoopRank::lock() {
  job_.lock_.lock();
}
inline void LoopRank::unlock() {
  job_.lock_.unlock();
}

inline host::WayRow LoopRank::find_way(portals::Rank peer, const char* wire) const {
  const std::string name = wire;
  const bool is_own = peer == me_;
  if (name == "self") return {"self", kSelf, is_own ? "" : "it is another rank", 16384, is_own};
  if (name == "shm")
    return {"shm", kShm, !is_own && on_node(peer) ? "" : "it is on another node, or this rank", 16384, !is_own};
  if (name == "tcp") return {"tcp", kTcp, is_own ? "it is this rank" : "", 16384, !is_own && !on_node(peer)};
  return {wire, host::Way::usual, "margay has no wire of this name", 0, false};
}

inline bool LoopRank::try_send(const portals::Header& header, const portals::Region& body) {
  return try_send_by(host::Way::usual, header, body);
}

inline bool LoopRank::try_send_by(host::Way way, const portals::Header& header, const portals::Region& body) {
  if (feed_ && header.destination.rank != me_) return true;
  std::deque<Message>& queue = job_.rank(header.destination.rank).arriving_[{me_, way}];
  if (queue.size() >= LoopJob::kQueueMost || (!feed_ && job_.random_() % 8 == 0)) return false;
  Message& message = queue.emplace_back();
  message.header = header;
  message.header.source = {0, me_};
  message.header.length = body.bytes();
  message.body.resize(body.bytes());
  portals::RegionCursor(body).read(message.body);
  return true;
}

inline void LoopRank::drop(portals::Rank peer, const char* wire) {
  job_.rank(peer).arriving_[{me_, find_way(peer, wire).way}].clear();
}

inline void LoopRank::send(host::Outgoing& message) {
  if (feed_ && message.header.destination.rank != me_) return;
  std::deque<Message>& queue = job_.rank(message.header.destination.rank).arriving_[{me_, message.way}];
  Message& sent = queue.emplace_back();
  sent.header = message.header;
  sent.header.source = {0, me_};
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
  const portals::Verdict verdict = delivery_.decide(message.header);
  if (verdict.outcome == portals::Outcome::drop && verdict.reason == portals::DropReason::no_room) return false;
  if (verdict.outcome == portals::Outcome::deposit && verdict.landing.bytes() != 0)
    std::memcpy(verdict.landing.single().base, message.body.data(), verdict.landing.bytes());
  if (verdict.outcome == portals::Outcome::reply) {
    Message dropped;
    Message& reply =
        feed_ && source.first != me_ ? dropped : job_.rank(source.first).arriving_[{me_, source.second}].emplace_back();
    reply.header.kind = portals::Kind::reply;
    reply.header.portal = message.header.return_portal;
    reply.header.match_bits = message.header.return_match_bits;
    reply.header.offset = message.header.return_offset;
    reply.header.source = {0, me_};
    reply.header.length = verdict.landing.bytes();
    reply.body.resize(verdict.landing.bytes());
    portals::RegionCursor(verdict.landing).read(reply.body);
  }
  if (verdict.outcome != portals::Outcome::drop) delivery_.complete(verdict, message.header);
  queue.pop_front();
  for (host::Observer* const each : observers_) each->notify();
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
      abort(1, std::string("nothing moves; rank ") + std::to_string(me_) + " in " + wait.call);
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
      mine = rank;
      program(rank->rank());
    });
  }
  for (std::thread& each : threads) each.join();
}

class LoopHost final : public host::Host {
 public:
  [[nodiscard]] portals::Status join(const host::Library& /*library*/, bool /*threads*/, const void* /*caller*/,
                                     host::Rank*& out) override {
    out = LoopJob::mine;
    return {};
  }
  int run_ranks(int argc, char** argv, int (*entry)(int, char**)) override { return entry(argc, argv); }
  void check_end(const host::Outgoing& /*message*/) override {}
};

}  // namespace margay::testing
