// Startpoints, and their travel in buffers.
#include "margay/nexus/startpoint.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "libraries/nexus/context.hpp"
#include "margay/nexus/buffer.hpp"

namespace margay::nexus {

using core::Context;
using core::here;
using core::Link;
using core::LinkData;
using core::StartpointState;
using core::this_context;

namespace {

// A context in which the startpoint is valid.
Context& context_of(const char* call, const StartpointState& state) {
  Context& context = this_context(call);
  if (!state.links.empty() && state.life != context.life)
    fail(std::string(call) + ": the startpoint was made before the last init(); make it again");
  return context;
}

const Link& link_of(const char* call, const StartpointState& state, std::size_t link) {
  if (link >= state.links.size()) {
    fail(std::string(call) + ": invalid link " + std::to_string(link) + "; the startpoint has " +
         std::to_string(state.links.size()));
  }
  return *state.links[link];
}

// Gives back what links have in the context. `state`: without links afterwards.
void close_links(StartpointState& state) {
  if (state.links.empty()) return;
  Context* const context = here.context != nullptr && here.context->life == state.life ? here.context : nullptr;
  const core::Locked locked(context);
  for (const auto& link : state.links) {
    if (context != nullptr) context->close(*link);
  }
  state.links.clear();
  state.group.reset();
}

void add_link(const char* call, StartpointState& state, LinkData data, std::uint32_t life) {
  if (!state.links.empty() && state.life != life)
    fail(std::string(call) + ": the startpoint was made before the last init(); make it again");
  if (state.links.size() == core::kLinksMost) {
    fail(std::string(call) + ": the startpoint has " + std::to_string(core::kLinksMost) +
         " links, the maximum; bind a second startpoint");
  }
  auto link = std::make_unique<Link>();
  static_cast<LinkData&>(*link) = std::move(data);
  state.life = life;
  state.links.push_back(std::move(link));
  state.group.reset();
}

// Changes the mobile part of each link, and moves the links that are in use. If the change of one fails, all links stay
// as they were.
template <typename Change>
void change_links(const char* call, StartpointState& state, Change change) {
  Context& context = context_of(call, state);
  if (state.links.empty()) fail(std::string(call) + ": the startpoint is not bound; bind it to an endpoint first");
  const host::Call inside(context.host_rank, call);
  state.group.reset();
  std::vector<Link> before;
  std::string why;
  for (std::size_t i = 0; i < state.links.size() && why.empty(); ++i) {
    Link& link = *state.links[i];
    before.push_back(link);
    why = change(context, link);
    if (why.empty() && before.back().way != nullptr) why = context.choose(link, core::Cause::change).sentence();
  }
  if (why.empty()) {
    for (std::size_t i = 0; i < before.size(); ++i)
      context.leave_way(*state.links[i], before[i].way, before[i].forwarder, core::Cause::change);
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    Link& link = *state.links[i];
    // The present reservation, which reserve() replaces by that of the former method.
    before[i].reserved = link.reserved;
    before[i].reserved_at = link.reserved_at;
    link = std::move(before[i]);
    context.reserve(link);
  }
  fail(std::string(call) + ": the link to context " + std::to_string(state.links[before.size() - 1]->context) + ": " +
       why);
}

}  // namespace

Startpoint::Startpoint() : state_(std::make_unique<StartpointState>()) {}

Startpoint::Startpoint(const Endpoint& endpoint) : Startpoint() {
  bind(endpoint);
}

Startpoint::Startpoint(const Startpoint& other) : Startpoint() {
  state_->is_light = other.state_->is_light;
  for (const auto& link : other.state_->links) add_link("Startpoint", *state_, *link, other.state_->life);
}

Startpoint& Startpoint::operator=(const Startpoint& other) {
  if (this != &other) *this = Startpoint(other);
  return *this;
}

Startpoint::Startpoint(Startpoint&& other) noexcept : state_(std::move(other.state_)) {
  other.state_ = std::make_unique<StartpointState>();
}

Startpoint& Startpoint::operator=(Startpoint&& other) noexcept {
  if (this != &other) {
    close_links(*state_);
    state_ = std::exchange(other.state_, std::make_unique<StartpointState>());
  }
  return *this;
}

Startpoint::~Startpoint() {
  if (state_ != nullptr) close_links(*state_);
}

void Startpoint::bind(const Endpoint& endpoint) {
  Context& context = context_of("Startpoint::bind", *state_);
  {
    // Another endpoint of this context may have the number.
    const core::Locked locked(&context);
    const core::Slot* const slot = context.endpoints.find(endpoint.number(), endpoint.generation());
    if (slot == nullptr || slot->endpoint != &endpoint)
      fail("Startpoint::bind: the endpoint was made before the last init(), or in another context");
  }
  LinkData link;
  link.context = context.host_rank.rank();
  link.endpoint = endpoint.number();
  link.generation = endpoint.generation();
  link.table = context.default_table(link.context);
  add_link("Startpoint::bind", *state_, std::move(link), context.life);
}

void Startpoint::bind(const Startpoint& other) {
  // A startpoint may be merged with itself.
  const Startpoint copy(other);
  for (const auto& link : copy.state_->links) add_link("Startpoint::bind", *state_, *link, copy.state_->life);
  state_->is_light = state_->is_light && copy.state_->is_light;
}

void Startpoint::unbind() {
  close_links(*state_);
}

bool Startpoint::is_bound() const {
  return !state_->links.empty();
}

std::size_t Startpoint::links() const {
  return state_->links.size();
}

int Startpoint::context(std::size_t link) const {
  return static_cast<int>(link_of("Startpoint::context", *state_, link).context);
}

bool Startpoint::equals(const Startpoint& other) const {
  return std::ranges::equal(state_->links, other.state_->links, [](const auto& one, const auto& two) {
    return one->context == two->context && one->endpoint == two->endpoint && one->generation == two->generation;
  });
}

void* Startpoint::local_address() const {
  Context& context = context_of("Startpoint::local_address", *state_);
  if (state_->links.size() != 1 || state_->links.front()->context != context.host_rank.rank()) return nullptr;
  const core::Locked locked(&context);
  const core::Slot* const slot =
      context.endpoints.find(state_->links.front()->endpoint, state_->links.front()->generation);
  return slot == nullptr ? nullptr : slot->endpoint->local_address();
}

void Startpoint::make_light() {
  change_links("Startpoint::make_light", *state_, [](Context& context, Link& link) -> std::string {
    if (!link.forced.empty()) return "its method " + link.forced + " is forced; call automatic() first";
    link.table = context.default_table(link.context);
    link.transforms.clear();
    link.quality = {};
    return {};
  });
  state_->is_light = true;
}

bool Startpoint::is_light() const {
  return state_->is_light;
}

std::vector<MethodRow> Startpoint::methods(std::size_t link) const {
  Context& context = context_of("Startpoint::methods", *state_);
  const Link& asked = link_of("Startpoint::methods", *state_, link);
  const host::Call call(context.host_rank, "Startpoint::methods");
  std::vector<MethodRow> rows;
  const std::vector<core::Judged> judged = context.judge(asked);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const core::Row& row = (*asked.table)[i];
    rows.push_back({.method = row.method,
                    .why_not = judged[i].why_not,
                    .is_chosen = asked.way != nullptr && asked.way->failed.empty() && asked.row == i,
                    .is_forced = asked.forced == row.method,
                    .forwarder = row.forwarder == core::kNoContext ? -1 : static_cast<int>(row.forwarder),
                    .available_bytes_per_second = judged[i].available});
  }
  return rows;
}

std::string Startpoint::method(std::size_t link) {
  Context& context = context_of("Startpoint::method", *state_);
  static_cast<void>(link_of("Startpoint::method", *state_, link));
  const host::Call call(context.host_rank, "Startpoint::method");
  Link& asked = *state_->links[link];
  if (asked.way == nullptr || !asked.way->failed.empty()) {
    const portals::Status status = asked.way == nullptr
                                       ? context.choose(asked, core::Cause::first)
                                       : context.choose_again(asked, core::Cause::failure, asked.way->method);
    if (!status.ok())
      fail("Startpoint::method: no method reaches context " + std::to_string(asked.context) + ": " + status.sentence());
  }
  return asked.way->method->name();
}

void Startpoint::force(const std::string& method) {
  change_links("Startpoint::force", *state_, [&](Context& context, Link& link) -> std::string {
    link.forced = method;
    const std::vector<core::Judged> judged = context.judge(link);
    for (std::size_t i = 0; i < judged.size(); ++i) {
      if ((*link.table)[i].method == method) return judged[i].why_not.empty() ? "" : method + ": " + judged[i].why_not;
    }
    return "its table has no method \"" + method + "\"; add() it first";
  });
  state_->is_light = false;
}

void Startpoint::automatic() {
  change_links("Startpoint::automatic", *state_, [](Context&, Link& link) -> std::string {
    link.forced.clear();
    return {};
  });
}

void Startpoint::reorder(const std::vector<std::string>& methods) {
  change_links("Startpoint::reorder", *state_, [&](Context&, Link& link) -> std::string {
    core::Table table = *link.table;
    auto front = table.begin();
    for (const std::string& name : methods) {
      const auto row = std::find_if(front, table.end(), [&](const core::Row& each) { return each.method == name; });
      if (row == table.end()) return "its table has no method \"" + name + "\", or the list names it twice";
      std::rotate(front, row, row + 1);
      ++front;
    }
    link.table = std::make_shared<const core::Table>(std::move(table));
    return {};
  });
  state_->is_light = false;
}

void Startpoint::add(const std::string& method) {
  change_links("Startpoint::add", *state_, [&](Context& context, Link& link) -> std::string {
    core::Table table = *link.table;
    if (std::ranges::find(table, method, &core::Row::method) != table.end())
      return "its table already has the method " + method;
    const core::Table& usual = *context.default_table(link.context);
    const auto row = std::ranges::find(usual, method, &core::Row::method);
    if (row == usual.end()) return "that context has no method \"" + method + "\"; add it to its modules";
    if (table.size() == core::kRowsMost) return "its table has 16 methods, the maximum; remove() one first";
    table.push_back(*row);
    link.table = std::make_shared<const core::Table>(std::move(table));
    return {};
  });
  state_->is_light = false;
}

void Startpoint::remove(const std::string& method) {
  change_links("Startpoint::remove", *state_, [&](Context&, Link& link) -> std::string {
    core::Table table = *link.table;
    if (std::erase_if(table, [&](const core::Row& each) { return each.method == method; }) == 0)
      return "its table has no method \"" + method + "\"; methods() returns the table";
    if (table.empty()) return method + " is its only method; add() another one first";
    if (link.forced == method) link.forced.clear();
    link.table = std::make_shared<const core::Table>(std::move(table));
    return {};
  });
  state_->is_light = false;
}

void Startpoint::put_before(const std::string& module) {
  change_links("Startpoint::put_before", *state_, [&](Context& context, Link& link) -> std::string {
    const core::Method* const method = context.methods.find(module);
    if (method == nullptr || !method->traits.has(MARGAY_NEXUS_TRANSFORM))
      return "this context has no transforming module \"" + module + "\"; add it to the modules";
    if (std::ranges::find(*link.table, module, &core::Row::method) == link.table->end())
      return "that context has no module \"" + module + "\"; add it to its modules";
    if (std::ranges::find(link.transforms, module) != link.transforms.end())
      return module + " is already before its method";
    if (link.transforms.size() == core::kTransformsMost)
      return "it has 4 transforms, the maximum; take_away() one first";
    link.transforms.push_back(module);
    return {};
  });
  state_->is_light = false;
}

void Startpoint::take_away(const std::string& module) {
  change_links("Startpoint::take_away", *state_, [&](Context&, Link& link) -> std::string {
    return std::erase(link.transforms, module) == 0
               ? module + " is not before its method; transforms() lists those that are"
               : std::string();
  });
}

std::vector<std::string> Startpoint::transforms() const {
  return state_->links.empty() ? std::vector<std::string>() : state_->links.front()->transforms;
}

void Startpoint::require(const Quality& quality) {
  change_links("Startpoint::require", *state_, [&](Context& context, Link& link) -> std::string {
    link.quality = quality;
    // A link that is not in use yet is selected now, so that its rate is reserved.
    return link.way != nullptr ? std::string() : context.choose(link, core::Cause::first).sentence();
  });
  state_->is_light = false;
}

Quality Startpoint::quality() const {
  return state_->links.empty() ? Quality() : state_->links.front()->quality;
}

std::vector<Startpoint> exchange(const Startpoint& startpoint) {
  constexpr char kCall[] = "nexus::exchange";
  Context& context = this_context("exchange");
  if (here.depth != 0)
    fail("exchange() in a handler, which must not wait for all contexts; call it outside of handlers");
  const Buffer own = std::move(Buffer().put(startpoint));
  if (own.bytes().size() > core::kExchangedMost) {
    fail("exchange: the startpoint has " + std::to_string(own.bytes().size()) + " bytes; the most are " +
         std::to_string(core::kExchangedMost) + "; make it light, or exchange one with fewer links");
  }
  std::vector<std::vector<std::byte>> all;
  {
    const host::Call call(context.host_rank, kCall);
    all = context.exchange(kCall, {own.bytes().begin(), own.bytes().end()});
  }
  std::vector<Startpoint> startpoints;
  for (const std::vector<std::byte>& bytes : all) {
    Buffer buffer = Buffer::view(bytes);
    startpoints.push_back(buffer.get<Startpoint>());
  }
  return startpoints;
}

Buffer& Buffer::put(const Startpoint& startpoint) {
  const StartpointState& state = startpoint.state();
  if (state.links.empty()) fail("Buffer::put() of a startpoint that is not bound; bind it to an endpoint first");
  std::vector<const LinkData*> links;
  for (const auto& link : state.links) links.push_back(link.get());
  std::vector<std::byte> bytes;
  core::encode(links, state.is_light, bytes);
  return append(Type::startpoint, bytes.size(), bytes.data(), bytes.size());
}

void Buffer::take_startpoint(Startpoint& startpoint) {
  Context& context = this_context("Buffer::get");
  const std::size_t before = next_;
  const Run run = take(Type::startpoint, 0, false);
  bool is_light = false;
  std::vector<LinkData> links;
  if (const portals::Status status = core::decode({run.base, run.count}, context.host_rank.size(), is_light, links);
      !status.ok()) {
    next_ = before;
    fail("Buffer::get(): " + status.sentence());
  }
  startpoint.state().is_light = is_light;
  for (LinkData& link : links) {
    if (is_light) link.table = context.default_table(link.context);
    add_link("Buffer::get", startpoint.state(), std::move(link), context.life);
  }
}

}  // namespace margay::nexus
