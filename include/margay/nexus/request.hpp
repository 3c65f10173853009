// The remote service request: an asynchronous one-sided call of a handler at a startpoint's endpoints (paper 003, 2.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "margay/nexus/buffer.hpp"
#include "margay/nexus/startpoint.hpp"

namespace margay::nexus {

// A link whose request was not sent, and the reason. `full`: the queue of sends by handlers has reached its bound
// (MARGAY_NEXUS_QUEUE). `lost`: the context has died. `unreachable`: no method is applicable, or all have failed.
struct Failure {
  enum class Why : std::uint8_t { full, lost, unreachable } why = Why::full;
  std::size_t link = 0;
  int context = 0;
  std::string text;
};

// The result of a send: the links whose request was not sent. It was sent by the other links.
struct [[nodiscard]] Result {
  std::vector<Failure> failures;
  [[nodiscard]] bool ok() const { return failures.empty(); }
  // Throws `error` with the first failure, if there is one.
  void check() const;
};

// Requests `handler` at each endpoint of the startpoint with a copy of the buffer, which the caller may reuse on
// return. Outside of handlers it waits for room and serves meanwhile; in a handler it never waits. The handler need not
// be registered in this context. Throws `error` for an unbound startpoint and an invalid name.
Result send(Startpoint& startpoint, const std::string& handler, const Buffer& buffer = {});

}  // namespace margay::nexus
