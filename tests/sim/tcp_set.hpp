// Connected TCP wires of several ranks in one process, over real sockets on the loopback interface.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/wire/tcp/tcp_wire.hpp"
#include "tests/sim/wire_harness.hpp"

namespace margay::sim::test {

inline JobSecret secret_of(int number) {
  JobSecret secret{};
  for (std::size_t i = 0; i < secret.size(); ++i)
    secret[i] = static_cast<std::byte>(static_cast<std::size_t>(number) + 7 * i);
  return secret;
}

inline TcpWire::Settings tcp_settings(std::uint32_t rank, std::uint32_t ranks, TcpBackendChoice backend) {
  TcpWire::Settings settings;
  settings.rank = rank;
  settings.world = ranks;
  settings.remote.assign(ranks, true);
  settings.secret = secret_of(1);
  settings.backend = backend;
  return settings;
}

class TcpSet final : public WireSet {
 public:
  TcpSet(std::uint32_t ranks, TcpBackendChoice backend) : finished_(ranks) {
    std::vector<std::string> cards;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      wires_.push_back(std::make_unique<TcpWire>(tcp_settings(rank, ranks, backend), finished_[rank]));
      const portals::Status opened = wires_.back()->open();
      REQUIRE_MESSAGE(opened.ok(), opened.sentence());
      cards.push_back(wires_.back()->card());
    }
    for (auto& wire : wires_) REQUIRE(wire->set_cards(cards).ok());
  }
  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(wires_.size()); }
  [[nodiscard]] TcpWire& wire(std::uint32_t rank) override { return *wires_[rank]; }
  [[nodiscard]] TransmissionList& finished(std::uint32_t rank) override { return finished_[rank]; }
  void close(std::uint32_t rank) { wires_[rank].reset(); }

 private:
  std::vector<TransmissionList> finished_;
  std::vector<std::unique_ptr<TcpWire>> wires_;
};

// Runs a test's body once with each backend that this host allows.
template <class Test>
void with_each_backend(Test test) {
  SUBCASE("epoll") {
    test(TcpBackendChoice::epoll);
  }
  if (!probe_uring().ok()) return;
  SUBCASE("io_uring") {
    test(TcpBackendChoice::uring);
  }
}

}  // namespace margay::sim::test
