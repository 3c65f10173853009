// The start of a context, its services for modules, and its errors.
#include "libraries/nexus/context.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "libraries/nexus/host_method.hpp"
#include "libraries/nexus/modules/registry.hpp"

namespace margay::nexus::core {

constinit thread_local Here here;

namespace {

// The contexts of the process, by incarnation. Not destroyed, because endpoints with static storage look here at exit.
struct Living {
  std::mutex mutex;
  std::uint32_t lives = 0;
  std::map<std::uint32_t, Context*> contexts;
};
Living& living() {
  static auto* const all = new Living();
  return *all;
}

std::uint32_t begin_life(Context& context) {
  const std::lock_guard guard(living().mutex);
  living().contexts.emplace(++living().lives, &context);
  return living().lives;
}

}  // namespace

void refuse_destruction(std::uint32_t life, std::uint32_t endpoint) {
  const std::lock_guard guard(living().mutex);
  const auto at = living().contexts.find(life);
  if (at == living().contexts.end()) return;
  at->second->host_rank.abort(1, "endpoint " + std::to_string(endpoint) +
                                     " is destroyed in a thread that does not belong to its context; destroy it in the "
                                     "thread that called init(), or after finish()");
}

Context& this_context(const char* call) {
  if (here.context == nullptr)
    fail(std::string(call) + " is called on a thread that has no context; call margay::nexus::init() first");
  return *here.context;
}

Context::Context(host::Rank& joined, const Settings& chosen, Handlers& registered)
    : host_rank(joined),
      life(begin_life(*this)),
      settings(chosen),
      handlers(registered),
      traffic(joined),
      endpoints(traffic.requests.block()) {
  for (std::size_t i = 0; i < kCounts; ++i) counters_[i] = &host_rank.counter(i);
  const std::uint32_t contexts = host_rank.size();
  // A node's number is its lowest rank.
  while (node_ < me() && !host_rank.on_node(node_)) ++node_;
  for (std::uint32_t peer = 0; peer < contexts; ++peer) {
    if (!host_rank.on_node(peer)) nodes_ = 2;
  }
  std::array<std::byte, 8> session{};
  static_cast<void>(derive_key("session", kNoContext, kNoContext, session));
  std::memcpy(&session_, session.data(), sizeof session_);
}

Context::~Context() {
  {
    const std::lock_guard guard(living().mutex);
    living().contexts.erase(life);
  }
  methods.finish();
}

// Neither a request nor a body has a way over the kernel's forwarders.
void Context::refuse_kernel_forwarding() {
  for (std::uint32_t peer = 0; peer < host_rank.size(); ++peer) {
    if (peer == me() || !host_rank.find_way(peer, "forward").why_not.empty()) continue;
    fail("init: --forward (MARGAY_FORWARD) closes tcp between contexts " + std::to_string(me()) + " and " +
         std::to_string(peer) + "; omit it, and use nexus::forward() for forwarders of Nexus");
  }
}

void Context::open(const char* call, const Choice& choice) {
  refuse_kernel_forwarding();
  if (const portals::Status status = traffic.attach(endpoints.list()); !status.ok()) fail(status.sentence());
  // No context sends before all portals are attached.
  if (const portals::Status status = host_rank.barrier(call); !status.ok()) fail(status.sentence());
  tables.resize(host_rank.size());
  start_modules(choice);
  exchange_tables(call, own_table(choice.order));
  check_parameters(choice);
  off_node = choice.off_node;
  for (const std::string& each : off_node) {
    const Method* const method = methods.find(each);
    if (method == nullptr || !method->traits.has(MARGAY_NEXUS_TRANSFORM))
      fail("init: off_node: this context has no transform \"" + each + "\"; name secure or compressed");
  }
  for (const Forwarding& each : choice.forwarding) add_forwarding(each.method, each.forwarder, each.contexts);
}

// A line of the resource file and a variable of the job may name parameters for all contexts, of which some have the
// module.
void Context::check_parameters(const Choice& choice) {
  for (const auto& [module, source] : choice.parameter_sources) {
    const auto has_it = [&name = module](const SharedTable& table) {
      return std::ranges::find(*table, name, &Row::method) != table->end();
    };
    if (methods.find(module) != nullptr || std::ranges::any_of(tables, has_it)) continue;
    fail("init: the parameter " + module + "." + source + ": no context has the module " + module +
         "; add it to the modules (--nexus-modules), or remove the parameter");
  }
}

void Context::start_modules(const Choice& choice) {
  std::vector<std::unique_ptr<Module>> loaded;
  for (const std::string& path : choice.load) {
    std::unique_ptr<Module> module;
    if (const portals::Status status = load_module(path, module); !status.ok()) fail("init: " + status.sentence());
    loaded.push_back(std::move(module));
  }
  const auto parameters = [&choice](std::string_view name) {
    const auto at = choice.parameters.find(std::string(name));
    return at == choice.parameters.end() ? std::vector<Parameter>() : at->second;
  };
  for (const std::string& name : choice.order) {
    if (methods.find(name) != nullptr) fail("init: the method " + name + " is chosen twice; name it once");
    if (auto method = make_host_method(name, traffic)) {
      if (const portals::Status status = method->init(*this, parameters(name)); !status.ok())
        fail("init: " + status.sentence());
      methods.add(std::move(method), true);
      continue;
    }
    const auto at =
        std::ranges::find_if(loaded, [&](const auto& each) { return each != nullptr && each->name() == name; });
    std::unique_ptr<Module> module = at == loaded.end() ? make_compiled(name) : std::move(*at);
    if (module == nullptr) {
      std::string known = "local, shm, tcp";
      for (const std::string& each : compiled_modules()) known += ", " + each;
      fail("init: unknown method \"" + name + "\"; choose from " + known + ", or load its module");
    }
    load(std::move(module), parameters(name));
  }
  for (std::unique_ptr<Module>& each : loaded) {
    if (each == nullptr) continue;
    const std::vector<Parameter> chosen = parameters(each->name());
    load(std::move(each), chosen);
  }
  for (const auto& [name, every] : choice.skip_poll) {
    Method* const method = methods.find(name);
    if (method == nullptr) fail("init: skip_poll names \"" + name + "\", which this context lacks; add it to modules");
    if (every == 0) fail("init: invalid poll interval 0 of \"" + name + "\"; use 1 to poll each time");
    if (const portals::Status status = set_skip_poll(*method, every); !status.ok())
      fail("init: the poll interval of " + name + ": " + status.sentence());
  }
}

void Context::load(std::unique_ptr<Module> module, const std::vector<Parameter>& parameters) {
  const std::string name(module->name());
  if (!valid_name(name)) fail("invalid module name \"" + name + "\"; use 1 to 15 letters, digits, '_' and '-'");
  if (methods.find(name) != nullptr) fail("the method " + name + " is loaded twice; load it once");
  if (const portals::Status status = module->init(*this, parameters); !status.ok())
    fail("cannot start the module " + name + ": " + status.sentence());
  methods.add(std::move(module), false);
}

Table Context::own_table(const std::vector<std::string>& order) {
  Table table;
  const auto add = [&table](const Method& method) {
    if (!method.is_reachable && !method.traits.has(MARGAY_NEXUS_TRANSFORM)) return;
    table.push_back({method.name(), method.own, kNoContext});
  };
  for (const std::string& name : order) add(*methods.find(name));
  for (const Method& method : methods.all()) {
    if (std::ranges::find(order, method.name()) == order.end()) add(method);
  }
  if (table.size() > kRowsMost) fail("init: " + std::to_string(table.size()) + " methods; choose at most 16");
  return table;
}

void Context::exchange_tables(const char* call, const Table& own) {
  std::vector<std::byte> bytes(sizeof node_);
  std::memcpy(bytes.data(), &node_, sizeof node_);
  encode(own, bytes);
  if (me() != 0) {
    traffic.send_control(0, Control::hello, 0, bytes);
    serve_until(call, 0, true, [this] { return is_welcome_; });
  } else {
    take_hello(0, bytes);
    serve_until(call, portals::kAnyRank, true, [this] { return hellos_.size() == host_rank.size(); });
    std::vector<std::byte> all;
    for (const auto& [context, table] : hellos_) {
      const std::uint32_t node = nodes_of_[context];
      const std::size_t at = all.size();
      all.resize(at + sizeof node);
      std::memcpy(all.data() + at, &node, sizeof node);
      encode(*table, all);
    }
    for (std::uint32_t peer = 1; peer < host_rank.size(); ++peer) traffic.send_control(peer, Control::welcome, 0, all);
    take_welcome(all);
  }
  hellos_.clear();
  nodes_of_.clear();
}

void Context::take_hello(std::uint32_t source, Bytes body) {
  std::uint32_t node = 0;
  if (body.size() >= sizeof node) std::memcpy(&node, body.data(), sizeof node);
  Table table;
  Bytes rest = body.subspan(std::min(body.size(), sizeof node));
  portals::Status status = decode(rest, host_rank.size(), table);
  if (status.ok() && (!rest.empty() || hellos_.contains(source) || me() != 0))
    status = portals::Status::error("it is not due");
  if (!status.ok())
    return add_error("context " + std::to_string(source) + " sent a damaged table: " + status.sentence());
  hellos_[source] = std::make_shared<const Table>(std::move(table));
  nodes_of_[source] = node;
}

void Context::take_welcome(Bytes body) {
  std::vector<SharedTable> all;
  std::set<std::uint32_t> nodes;
  while (body.size() >= sizeof(std::uint32_t) && all.size() < host_rank.size()) {
    std::uint32_t node = 0;
    std::memcpy(&node, body.data(), sizeof node);
    nodes.insert(node);
    body = body.subspan(sizeof node);
    Table table;
    if (!decode(body, host_rank.size(), table).ok()) break;
    all.push_back(std::make_shared<const Table>(std::move(table)));
  }
  if (is_welcome_ || !body.empty() || all.size() != host_rank.size()) return add_error("context 0 sent damaged tables");
  tables = std::move(all);
  nodes_ = static_cast<std::uint32_t>(nodes.size());
  is_welcome_ = true;
}

std::vector<std::vector<std::byte>> Context::exchange(const char* call, std::vector<std::byte> own) {
  ++exchange_;
  exchanged_.clear();
  const std::uint32_t contexts = host_rank.size();
  if (me() != 0) {
    traffic.send_control(0, Control::own, exchange_, own);
    serve_until(call, portals::kAnyRank, true, [&] { return exchanged_.size() == contexts; });
    return std::move(exchanged_);
  }
  given_bytes_[0] = std::move(own);
  serve_until(call, portals::kAnyRank, true, [&] { return given_bytes_.size() == contexts; });
  std::vector<std::byte> some;
  const auto send_some = [&] {
    for (std::uint32_t peer = 1; peer < contexts; ++peer) traffic.send_control(peer, Control::all, exchange_, some);
    some.clear();
  };
  for (auto& [context, bytes] : given_bytes_) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    // A message longer than the heap of control messages would never arrive.
    if (!some.empty() && some.size() + sizeof size + size > kExchangedMost) send_some();
    const std::size_t at = some.size();
    some.resize(at + sizeof size + size);
    std::memcpy(some.data() + at, &size, sizeof size);
    std::ranges::copy(bytes, some.begin() + static_cast<std::ptrdiff_t>(at + sizeof size));
    exchanged_.push_back(std::move(bytes));
  }
  given_bytes_.clear();
  send_some();
  return std::move(exchanged_);
}

bool Context::take_exchanged(std::uint32_t source, std::uint64_t number, Bytes body, bool is_all) {
  if (!is_all) {
    // Context 0 may not have called yet.
    if (me() != 0 || (number != exchange_ && number != exchange_ + 1)) return false;
    return given_bytes_.try_emplace(source, body.begin(), body.end()).second;
  }
  if (source != 0 || me() == 0 || number != exchange_) return false;
  std::vector<std::vector<std::byte>> some;
  std::uint32_t size = 0;
  while (body.size() >= sizeof size) {
    std::memcpy(&size, body.data(), sizeof size);
    body = body.subspan(sizeof size);
    if (size > body.size()) return false;
    some.emplace_back(body.begin(), body.begin() + size);
    body = body.subspan(size);
  }
  if (!body.empty() || exchanged_.size() + some.size() > host_rank.size()) return false;
  std::ranges::move(some, std::back_inserter(exchanged_));
  return true;
}

bool Context::deliver(Module& module, std::uint32_t source, Bytes header, Bytes body) {
  Method* const method = methods.find(module.name());
  Frame frame;
  const portals::Status status = decode(header, body.size(), frame);
  if (method == nullptr || source >= host_rank.size() || !status.ok()) {
    if (method != nullptr) ++method->dropped;
    ++count(kDropped);
    add_error("the method " + std::string(module.name()) + " delivered a damaged message of context " +
              std::to_string(source) + (status.ok() ? "" : ": " + status.sentence()));
    return false;
  }
  ++method->delivered;
  auto item = std::make_unique<Item>();
  item->source = item->from = source;
  item->frame = frame;
  item->bytes.assign(body.begin(), body.end());
  item->body = item->bytes;
  item->counts = method->traits.has(MARGAY_NEXUS_RELIABLE);
  arriving_[source].items.push_back(std::move(item));
  traffic.mark_activity();
  return true;
}

void Context::report_lost(Module& module, std::uint32_t /*source*/, std::uint64_t messages) {
  if (Method* const method = methods.find(module.name())) method->lost += messages;
}

void Context::report_dropped(Module& module, std::uint64_t messages, const std::string& why) {
  if (Method* const method = methods.find(module.name())) method->dropped += messages;
  count(kDropped) += messages;
  if (!why.empty()) add_error("the method " + std::string(module.name()) + " dropped a message: " + why);
}

bool Context::derive_key(std::string_view label, std::uint32_t one, std::uint32_t other, std::span<std::byte> key) {
  constexpr std::size_t kLabelMost = 31;
  std::array<std::byte, crypto_generichash_BYTES_MAX> hash{};
  if (label.size() > kLabelMost || key.size() > hash.size() || sodium_init() < 0) return false;
  std::array<unsigned char, 16 + kLabelMost + 8> input{};
  std::memcpy(input.data(), "margay nexus key", 16);
  std::memcpy(input.data() + 16, label.data(), label.size());
  const std::array<std::uint32_t, 2> pair{std::min(one, other), std::max(one, other)};
  std::memcpy(input.data() + 16 + kLabelMost, pair.data(), sizeof pair);
  const std::span<const std::byte, 32> secret = host_rank.secret();
  static_cast<void>(crypto_generichash(reinterpret_cast<unsigned char*>(hash.data()), hash.size(), input.data(),
                                       input.size(), reinterpret_cast<const unsigned char*>(secret.data()),
                                       secret.size()));
  std::ranges::copy_n(hash.begin(), static_cast<std::ptrdiff_t>(key.size()), key.begin());
  return true;
}

void Context::switch_off(Module& module, const std::string& why) {
  Method* const method = methods.find(module.name());
  if (method == nullptr || !method->off.empty()) return;
  method->off = why.empty() ? "it has failed" : why;
  add_error("the method " + method->name() + " is switched off: " + method->off);
  for (const auto& [key, way] : methods.ways()) {
    if (way->method == method && way->failed.empty()) {
      way->failed = method->off;
      requeue(*way);
    }
  }
}

void Context::add_error(const std::string& text) {
  if (errors_.size() == kErrorsMost) {
    ++errors_left_out_;
    return;
  }
  errors_.push_back(text);
}

void Context::throw_pending() {
  if (errors_.empty()) return;
  std::string text = std::move(errors_.front());
  errors_.pop_front();
  if (errors_left_out_ != 0 && errors_.empty())
    text += "; " + std::to_string(std::exchange(errors_left_out_, 0)) + " further errors were left out";
  fail(text);
}

void Context::end_threads() {
  if (threads != nullptr) threads->stop();
  threads.reset();
}

}  // namespace margay::nexus::core
