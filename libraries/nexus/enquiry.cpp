// The functions of include/margay/nexus/enquiry.hpp.
#include "margay/nexus/enquiry.hpp"

#include <cstdio>

#include "libraries/nexus/context.hpp"

namespace margay::nexus {

using core::Context;
using core::this_context;

std::vector<ModuleFacts> modules() {
  Context& context = this_context("modules");
  const host::Call call(context.host_rank, "nexus::modules");
  std::vector<ModuleFacts> all;
  for (core::Method& method : context.methods.all()) {
    const core::Traits& traits = method.traits;
    ModuleFacts& facts = all.emplace_back();
    facts.name = method.name();
    facts.description = std::string(method.module->description());
    facts.is_ordered = traits.has(MARGAY_NEXUS_ORDERED);
    facts.is_reliable = traits.has(MARGAY_NEXUS_RELIABLE);
    facts.is_transform = traits.has(MARGAY_NEXUS_TRANSFORM);
    facts.is_multicast = traits.has(MARGAY_NEXUS_MULTICAST);
    facts.is_secure = traits.has(MARGAY_NEXUS_SECURE);
    facts.is_off = !method.off.empty();
    facts.why_off = method.off;
    facts.latency_ns = traits.latency_ns;
    facts.poll_cost_ns = traits.poll_cost_ns;
    facts.bytes_per_second = traits.bytes_per_second;
    facts.body_most = traits.body_most;
    facts.skip_poll = method.skip_poll;
    facts.is_polled = method.polls_itself() && method.is_polled;
    facts.polls = method.polls;
    facts.hits = method.hits;
    if (host::PollCounts counts; method.is_host && context.host_rank.poll_counts(facts.name, counts).ok()) {
      // The kernel polls it.
      facts.polls = counts.polls;
      facts.hits = counts.hits;
      if (counts.interval != 0) facts.skip_poll = counts.interval;
    }
    facts.sent = method.sent;
    facts.delivered = method.delivered;
    facts.lost = method.lost;
    facts.dropped = method.dropped;
    for (core::Parameter& each : method.module->parameters())
      facts.parameters.emplace_back(std::move(each.name), std::move(each.value));
    facts.statistics = method.module->statistics();
  }
  return all;
}

Counts counts() {
  Context& context = this_context("counts");
  const host::Call call(context.host_rank, "nexus::counts");
  return {.sent = context.count(core::kSent),
          .executed = context.count(core::kExecuted),
          .queued = context.ready(),
          .forwarded = context.count(core::kForwarded),
          .unknown_handlers = context.count(core::kUnknown),
          .dropped = context.count(core::kDropped),
          .changes = context.count(core::kChanges) + context.count(core::kFailovers),
          .endpoints = context.endpoints.size()};
}

std::string explain(const Startpoint& startpoint) {
  std::string text;
  if (!startpoint.is_bound()) return "the startpoint is not bound\n";
  for (std::size_t link = 0; link < startpoint.links(); ++link) {
    const core::Link& data = *startpoint.state().links[link];
    text += "link " + std::to_string(link) + " to endpoint " + std::to_string(data.endpoint) + " of context " +
            std::to_string(data.context) + (startpoint.is_light() ? " (light)" : "") + "\n";
    bool is_chosen = false;
    bool is_first = true;
    for (const MethodRow& row : startpoint.methods(link)) {
      std::string why = row.why_not;
      if (row.is_chosen) {
        why = row.is_forced ? "chosen: forced" : "chosen: the first applicable row";
        is_chosen = true;
      } else if (why.empty()) {
        why = is_chosen || !is_first ? "applicable, but a row before it is too"
                                     : "applicable; chosen by the next request";
        if (data.way != nullptr && !is_chosen) why = "applicable, but another method is in use";
      } else {
        why = "not applicable: " + why;
      }
      if (row.why_not.empty()) is_first = false;
      if (row.forwarder >= 0) why += ", by forwarder " + std::to_string(row.forwarder);
      text += "  " + row.method + std::string(row.method.size() < 12 ? 12 - row.method.size() : 1, ' ') + why + "\n";
    }
    for (const std::string& each : data.transforms) text += "  before it: " + each + "\n";
  }
  return text;
}

}  // namespace margay::nexus

void nexus_explain(const margay::nexus::Startpoint& startpoint) {
  const std::string text = margay::nexus::explain(startpoint);
  std::fwrite(text.data(), 1, text.size(), stdout);
}
