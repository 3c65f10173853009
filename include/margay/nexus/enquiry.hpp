// Enquiry functions (paper 003, 2.1): the methods of a context, their state, and the reasons for selections.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "margay/nexus/startpoint.hpp"

namespace margay::nexus {

// One module of this context.
struct ModuleFacts {
  std::string name, description;
  bool is_ordered = false, is_reliable = false, is_transform = false, is_multicast = false, is_secure = false;
  bool is_off = false;  // it has failed, for the reason `why_off`
  std::string why_off;
  std::uint32_t latency_ns = 0, poll_cost_ns = 0;  // hints of the module; 0: unknown
  std::uint64_t bytes_per_second = 0;
  std::uint64_t body_most = 0;
  // Of tcp and shm, which margay's kernel polls, `skip_poll`, `polls` and `hits` are the kernel's.
  std::uint32_t skip_poll = 1;
  bool is_polled = false;  // by Nexus's polling function
  std::uint64_t polls = 0, hits = 0, sent = 0, delivered = 0, lost = 0, dropped = 0;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::pair<std::string, std::uint64_t>> statistics;
};
[[nodiscard]] std::vector<ModuleFacts> modules();

// Counts of this context since init().
struct Counts {
  std::uint64_t sent = 0, executed = 0, queued = 0, forwarded = 0, unknown_handlers = 0, dropped = 0, changes = 0;
  std::size_t endpoints = 0;
};
[[nodiscard]] Counts counts();

// The table of methods of each link of a startpoint, as text: the chosen row, and why each other row was not chosen.
[[nodiscard]] std::string explain(const Startpoint& startpoint);

}  // namespace margay::nexus

// Prints explain(startpoint) on standard output.
void nexus_explain(const margay::nexus::Startpoint& startpoint);
