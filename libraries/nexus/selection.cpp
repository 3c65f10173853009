// The selection of a link's method: the first applicable row of its table (paper 003, 3.2).
#include <algorithm>
#include <utility>

#include "libraries/nexus/context.hpp"

namespace margay::nexus::core {

std::uint32_t Context::content_of(const LinkData& link) const {
  std::uint32_t content = 0;
  if (link.quality.secure) content |= MARGAY_NEXUS_CONFIDENTIAL;
  if (link.quality.bulk) content |= MARGAY_NEXUS_BULK;
  if (!host_rank.on_node(link.context)) content |= MARGAY_NEXUS_OFF_NODE;
  return content;
}

std::string Context::why_not(const Link& link, const Row& row, Judged& judged) {
  Method* const method = judged.method = methods.find(row.method);
  if (method == nullptr) return "this context does not have it; add it to the modules";
  if (!method->off.empty()) return "it is switched off: " + method->off;
  if (method->traits.has(MARGAY_NEXUS_TRANSFORM)) return "it is a transform, which carries no requests";
  const Traits& traits = method->traits;
  const Quality& quality = link.quality;
  if (quality.ordered && !traits.has(MARGAY_NEXUS_ORDERED)) return "it does not keep the order of requests";
  if (quality.reliable && !traits.has(MARGAY_NEXUS_RELIABLE)) return "it may lose requests";
  const auto encrypts = [this](const std::string& name) {
    const Method* const transform = methods.find(name);
    return transform != nullptr && transform->traits.has(MARGAY_NEXUS_SECURE);
  };
  if (quality.secure && !host_rank.on_node(link.context) && !traits.has(MARGAY_NEXUS_SECURE) &&
      !std::ranges::any_of(link.transforms, encrypts) && !std::ranges::any_of(off_node, encrypts))
    return "it leaves the node without encryption; put secure before it";
  if (quality.latency_most_ns != 0 && traits.latency_ns > quality.latency_most_ns) {
    return "its latency is " + std::to_string(traits.latency_ns) + " ns, more than the demanded " +
           std::to_string(quality.latency_most_ns);
  }
  if (traits.bytes_per_second != 0) {
    const auto at = reserved_.find({link.context, row.method});
    const std::uint64_t reserved = at == reserved_.end() ? 0 : at->second;
    judged.available = traits.bytes_per_second - std::min(traits.bytes_per_second, reserved);
    // Of its own reservation the link may use all.
    const std::uint64_t usable = judged.available + (link.reserved_at == row.method ? link.reserved : 0);
    if (quality.bytes_per_second > usable) {
      return std::to_string(judged.available) + " bytes/s are available, and " +
             std::to_string(quality.bytes_per_second) + " are demanded";
    }
  }
  Target target{link.context, row.descriptor};
  if (row.forwarder != kNoContext && row.forwarder != me() && link.context != me()) {
    const Table& other = *tables[row.forwarder];
    const auto same = std::ranges::find(other, row.method, &Row::method);
    if (same == other.end()) return "its forwarder, context " + std::to_string(row.forwarder) + ", has no such method";
    target = {row.forwarder, same->descriptor};
  }
  if (std::string why = method->module->why_not(method->own, target, content_of(link)); !why.empty()) return why;
  return methods.failure(*method, target);
}

std::vector<Judged> Context::judge(const Link& link) {
  std::vector<Judged> judged;
  for (const Row& row : *link.table) {
    Judged& each = judged.emplace_back();
    each.why_not = why_not(link, row, each);
  }
  return judged;
}

portals::Status Context::choose(Link& link, Cause cause, const Method* except) {
  std::vector<Judged> judged = judge(link);
  std::vector<std::size_t> order(judged.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return (*link.table)[i].method == link.forced; });
  std::vector<SharedWay> before;
  std::string reasons;
  for (std::size_t tried = 0; tried < order.size(); ++tried) {
    const Row& row = (*link.table)[order[tried]];
    std::string why = std::move(judged[order[tried]].why_not);
    if (why.empty() && judged[order[tried]].method == except) why = "its former method is excluded";
    SharedWay way;
    const bool is_forwarded = row.forwarder != kNoContext && row.forwarder != me() && link.context != me();
    if (why.empty()) {
      Target target{link.context, row.descriptor};
      if (is_forwarded) {
        const Table& other = *tables[row.forwarder];
        target = {row.forwarder, std::ranges::find(other, row.method, &Row::method)->descriptor};
      }
      why = methods.open(*judged[order[tried]].method, {&target, 1}, {}, way).sentence();
    }
    if (why.empty()) why = open_transforms(link, row.method, before).sentence();
    if (!why.empty()) {
      reasons += (reasons.empty() ? "" : "; ") + row.method + ": " + why;
      continue;
    }
    link.way = std::move(way);
    link.before = std::move(before);
    link.row = order[tried];
    link.forwarder = is_forwarded ? row.forwarder : kNoContext;
    reserve(link);
    record_choice(link, tried, cause);
    return {};
  }
  reserve(link);
  return portals::Status::error(reasons.empty() ? "its table is empty" : reasons);
}

portals::Status Context::open_transforms(const Link& link, const std::string& below, std::vector<SharedWay>& out) {
  out.clear();
  std::vector<std::string> names = link.transforms;
  if (!host_rank.on_node(link.context)) {
    for (const std::string& each : off_node) {
      if (std::ranges::find(names, each) == names.end()) names.push_back(each);
    }
  }
  for (const std::string& name : names) {
    Method* const method = methods.find(name);
    if (method == nullptr)
      return portals::Status::error("this context has no transform " + name + "; add it to the modules");
    if (!method->off.empty()) return portals::Status::error(name + " is switched off: " + method->off);
    const auto row = std::ranges::find(*link.table, name, &Row::method);
    if (row == link.table->end()) {
      return portals::Status::error("context " + std::to_string(link.context) + " has no transform " + name +
                                    "; add it to the modules there");
    }
    const Target target{link.context, row->descriptor};
    SharedWay way;
    if (portals::Status status = methods.open(*method, {&target, 1}, below, way); !status.ok()) return status;
    out.push_back(std::move(way));
  }
  return {};
}

portals::Status Context::choose_again(Link& link, Cause cause, const Method* except) {
  const SharedWay old = link.way;
  const std::uint32_t old_forwarder = link.forwarder;
  if (portals::Status status = choose(link, cause, except); !status.ok()) return status;
  leave_way(link, old, old_forwarder, cause);
  return {};
}

void Context::leave_way(Link& link, const SharedWay& old, std::uint32_t old_forwarder, Cause cause) {
  if (old == nullptr || old == link.way) return;
  ++count(cause == Cause::change ? kChanges : kFailovers);
  if (link.is_used) end_epoch(link, old, old_forwarder);
}

void Context::reserve(Link& link) {
  if (link.reserved != 0) reserved_[{link.context, link.reserved_at}] -= std::exchange(link.reserved, 0);
  if (link.quality.bytes_per_second == 0 || link.way == nullptr) return;
  link.reserved = link.quality.bytes_per_second;
  link.reserved_at = link.way->method->name();
  reserved_[{link.context, link.reserved_at}] += link.reserved;
}

void Context::record_choice(const Link& link, std::size_t before, Cause cause) {
  if (!host_rank.recording()) return;
  const std::string_view name = link.way->method->module->name();
  EventNumber number = name == "local" ? kChoosesLocal
                       : name == "shm" ? kChoosesShm
                       : name == "tcp" ? kChoosesTcp
                                       : kChoosesModule;
  if (cause == Cause::failure || cause == Cause::load) number = kFailsOver;
  host_rank.record({.number = number,
                    .peer = link.context,
                    .a = static_cast<std::uint32_t>(link.row),
                    .b = static_cast<std::uint32_t>(before)});
}

void Context::add_forwarding(const std::string& method, std::uint32_t forwarder,
                             const std::vector<std::uint32_t>& contexts) {
  const auto check = [&](std::uint32_t context) {
    if (context >= host_rank.size()) {
      fail("forward: invalid context " + std::to_string(static_cast<std::int32_t>(context)) +
           "; there are contexts 0 to " + std::to_string(host_rank.size() - 1));
    }
  };
  check(forwarder);
  for (const std::uint32_t context : contexts) {
    check(context);
    if (context == forwarder)
      fail("forward: context " + std::to_string(context) + " cannot pass on its own requests; name other contexts");
    if (std::ranges::find(*tables[context], method, &Row::method) == tables[context]->end())
      fail("forward: context " + std::to_string(context) + " has no method \"" + method + "\"; add it to its modules");
  }
  // After all checks, so that a call that fails changes nothing.
  for (const std::uint32_t context : contexts) {
    Table table = *tables[context];
    std::ranges::find(table, method, &Row::method)->forwarder = forwarder;
    tables[context] = std::make_shared<const Table>(std::move(table));
    if (context == me()) forwarders_.insert(forwarder);
    if (forwarder == me()) forwards_for_[context] = method;
  }
}

}  // namespace margay::nexus::core
