// The base of each rank that is a part of a test: a rank alone in its process, without wires, which does nothing. A
// test overrides the functions that it needs. So a new function of host::Rank has its answer for all tests here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "margay/host.hpp"
#include "portals/deliver.hpp"

namespace margay::testing {

class TestRank : public host::Rank {
 public:
  TestRank(portals::Rank me, std::uint32_t size) : me_(me), size_(size) {}

  // The job: none of its ranks has ended.
  [[nodiscard]] portals::Rank rank() const override { return me_; }
  [[nodiscard]] std::uint32_t size() const override { return size_; }
  [[nodiscard]] std::uint32_t places() const override { return size(); }
  [[nodiscard]] bool has_process(portals::Rank /*place*/) const override { return true; }
  [[nodiscard]] bool has_left(portals::Rank /*place*/) const override { return false; }
  [[nodiscard]] bool on_node(portals::Rank /*peer*/) const override { return true; }
  [[nodiscard]] bool lost(portals::Rank /*peer*/) const override { return false; }
  [[nodiscard]] std::string loss(portals::Rank /*peer*/) const override { return {}; }
  [[nodiscard]] bool recording() const override { return false; }
  void record(const host::Event& /*event*/) override {}
  [[noreturn]] void abort(int /*code*/, const std::string& message) override {
    std::fprintf(stderr, "abort: %s\n", message.c_str());
    std::_Exit(1);
  }

  void end() override { answer("end"); }
  [[nodiscard]] portals::Status start_processes(const std::string& /*program*/, std::uint32_t /*count*/,
                                                std::vector<portals::Rank>& /*places*/) override {
    answer("start_processes");
    return portals::Status::error("the host of a test starts no processes");
  }
  [[nodiscard]] portals::Status end_processes(const std::vector<portals::Rank>& /*places*/) override {
    answer("end_processes");
    return portals::Status::error("the host of a test ends no processes");
  }
  void note_end(portals::Rank /*place*/) override { answer("note_end"); }
  [[nodiscard]] std::span<const std::byte, 32> secret() const override {
    answer("secret");
    return secret_;
  }
  void enter(const char* /*name*/, const void* /*caller*/) override { answer("enter"); }
  void leave(const char* /*name*/) override { answer("leave"); }
  void begin_thread() override { answer("begin_thread"); }
  void lock() override { answer("lock"); }
  void unlock() override { answer("unlock"); }
  void run_program(void (*function)(void*), void* argument) override {
    answer("run_program");
    function(argument);
  }
  [[nodiscard]] std::uint64_t& counter(std::size_t index) override {
    answer("counter");
    return counters_.at(index);
  }

  // Portals: nothing arrives.
  [[nodiscard]] portals::Status attach(portals::PortalIndex /*portal*/, portals::MatchList& /*list*/) override {
    return succeed("attach");
  }
  [[nodiscard]] portals::Status attach(portals::PortalIndex /*portal*/, portals::Descriptor& /*memory*/,
                                       const portals::Options& /*options*/) override {
    return succeed("attach");
  }
  void detach(portals::PortalIndex /*portal*/) override { answer("detach"); }
  void name_entry(portals::PortalIndex /*portal*/, const portals::MatchEntry& /*entry*/,
                  const char* /*name*/) override {
    answer("name_entry");
  }
  void hold_when_no_room(portals::PortalIndex /*portal*/) override { answer("hold_when_no_room"); }
  void observe(portals::Descriptor& /*descriptor*/, host::Observer* /*observer*/) override { answer("observe"); }
  void observe_rounds(host::Observer& /*observer*/, bool /*on*/) override { answer("observe_rounds"); }
  void observe_losses(host::Observer& /*observer*/, bool /*on*/) override { answer("observe_losses"); }

  // Messages: each is sent at once, and dropped.
  [[nodiscard]] bool try_send(const portals::Header& /*header*/, const portals::Region& /*body*/) override {
    answer("try_send");
    return true;
  }
  [[nodiscard]] bool try_send_by(host::Way /*way*/, const portals::Header& header,
                                 const portals::Region& body) override {
    return try_send(header, body);
  }
  void send(host::Outgoing& /*message*/) override { answer("send"); }
  [[nodiscard]] host::SendState state(const host::Outgoing& /*message*/) const override {
    answer("state");
    return host::SendState::sent;
  }
  void expect_answer(portals::Rank /*peer*/) override { answer("expect_answer"); }
  void count_answer(portals::Rank /*peer*/) override { answer("count_answer"); }

  // Progress and waits: a wait whose condition does not hold fails when nothing moves; barriers end at once.
  void wake(portals::Rank /*peer*/) override { answer("wake"); }
  bool progress() override {
    answer("progress");
    return false;
  }
  [[nodiscard]] portals::Status wait(const host::Wait& wait, bool (*done)(void*), void* argument) override {
    while (!done(argument)) {
      if (!progress()) return portals::Status::error(std::string(wait.call) + ": nothing arrives any more");
    }
    return {};
  }
  [[nodiscard]] portals::Status barrier(const char* /*call*/) override { return succeed("barrier"); }
  void begin_barrier() override { answer("begin_barrier"); }
  [[nodiscard]] bool in_barrier() override {
    answer("in_barrier");
    return false;
  }
  [[nodiscard]] portals::Status end_barrier(const char* /*call*/) override { return succeed("end_barrier"); }

  // Ways and their polling: the usual way only.
  [[nodiscard]] std::vector<host::WayRow> ways(portals::Rank /*peer*/) const override {
    answer("ways");
    return {};
  }
  [[nodiscard]] host::WayRow find_way(portals::Rank /*peer*/, const char* /*wire*/) const override {
    answer("find_way");
    return {};
  }
  [[nodiscard]] bool way_lost(portals::Rank /*peer*/, host::Way /*way*/) const override {
    answer("way_lost");
    return false;
  }
  [[nodiscard]] std::string way_loss(portals::Rank /*peer*/, host::Way /*way*/) const override {
    answer("way_loss");
    return {};
  }
  [[nodiscard]] portals::Status move(portals::Rank /*peer*/, host::Way /*from*/, host::Way /*to*/) override {
    return succeed("move");
  }
  [[nodiscard]] portals::Status set_poll_interval(const std::string& /*wire*/,
                                                  const std::string& /*interval*/) override {
    return succeed("set_poll_interval");
  }
  [[nodiscard]] portals::Status set_polling(const std::string& /*wire*/, bool /*on*/) override {
    return succeed("set_polling");
  }
  [[nodiscard]] portals::Status poll_counts(const std::string& /*wire*/, host::PollCounts& /*out*/) override {
    return succeed("poll_counts");
  }

 protected:
  ~TestRank() = default;
  // Called by each function that is not overridden and does more than describe the job. A test in which none of them
  // may be called ends itself here.
  virtual void answer(const char* /*function*/) const {}

 private:
  [[nodiscard]] portals::Status succeed(const char* function) const {
    answer(function);
    return {};
  }

  const portals::Rank me_;
  const std::uint32_t size_;
  const std::array<std::byte, 32> secret_{};
  std::array<std::uint64_t, host::kCountersMost> counters_{};
};

// The same with a portal table. Which messages arrive is the derived class's work.
class PortalsRank : public TestRank {
 public:
  using TestRank::TestRank;
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
  // Of any descriptor: an observer may be notified without a message of its own.
  void observe(portals::Descriptor& /*descriptor*/, host::Observer* observer) override {
    if (observer != nullptr) observers_.insert(observer);
  }

 protected:
  ~PortalsRank() = default;
  // Decides on a message, and deposits its body. The caller completes the delivery by complete().
  [[nodiscard]] portals::Verdict deposit(const portals::Header& header, std::span<const std::byte> body) {
    const portals::Verdict verdict = delivery_.decide(header);
    if (verdict.outcome == portals::Outcome::deposit && verdict.landing.bytes() != 0)
      std::memcpy(verdict.landing.single().base, body.data(), verdict.landing.bytes());
    return verdict;
  }
  void complete(const portals::Verdict& verdict, const portals::Header& header) { delivery_.complete(verdict, header); }
  void notify_observers() {
    for (host::Observer* const each : observers_) each->notify();
  }

 private:
  std::set<host::Observer*> observers_;
  portals::ChangedList changed_;
  portals::PortalTable table_;
  portals::Delivery delivery_{table_, changed_};
};

}  // namespace margay::testing
