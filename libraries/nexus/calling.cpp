// The functions of include/margay/nexus/context.hpp and request.hpp, and endpoints.
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libraries/nexus/context.hpp"
#include "libraries/nexus/modules/registry.hpp"
#include "libraries/nexus/threads.hpp"

namespace margay::nexus {

using core::Context;
using core::here;
using core::this_context;

namespace {

// The handlers that this thread has registered, before and after init(). Kept after the thread's end, because handlers
// may still run in other threads then.
core::Handlers& handlers_of_thread() {
  thread_local core::Handlers* handlers = nullptr;
  if (handlers == nullptr) {
    static std::mutex guard;
    static auto* const all = new std::vector<std::unique_ptr<core::Handlers>>();
    const std::lock_guard locked(guard);
    handlers = all->emplace_back(std::make_unique<core::Handlers>()).get();
  }
  return *handlers;
}

void refuse_in_handler(const char* call) {
  if (here.depth != 0 && !here.on_thread) {
    fail(std::string(call) +
         " is called in a handler, which must not wait; register the handler with Run::in_thread, or let "
         "it store the work for later");
  }
}

Context& context_outside_handlers(const char* call) {
  refuse_in_handler(call);
  return this_context(call);
}

// A method of this context by name.
core::Method& method_of(Context& context, const char* call, const std::string& name) {
  core::Method* const method = context.methods.find(name);
  if (method == nullptr)
    fail(std::string(call) + ": this context has no method \"" + name + "\"; add it to the modules");
  return *method;
}

// Ends the context of this thread and its part in the rank.
void leave(host::Rank& rank) {
  Context* const last = std::exchange(here.context, nullptr);
  if (last != nullptr) {
    last->end_threads();
    const host::Call call(rank, "nexus::finish");
    // Inside, because it detaches portals; end() must be outside.
    const std::unique_ptr<Context> context(last);
  }
  rank.end();
}

void start(std::vector<std::string>& words, const Options& options) {
  constexpr char kCall[] = "nexus::init";
  if (here.context != nullptr) fail("init() is called twice; call finish() in between");
  const core::Settings settings = core::read_settings(options.threads);
  core::Handlers& handlers = handlers_of_thread();
  if (handlers.any_in_thread() && settings.threads == 0)
    fail("init: a handler runs in a thread, but there are none; set Options::threads or MARGAY_NEXUS_THREADS");
  host::Rank* joined = nullptr;
  if (const portals::Status status = host::join(core::kLibrary, joined, settings.threads != 0); !status.ok())
    fail(status.sentence());
  try {
    core::Choice choice;
    if (!options.methods.empty()) choice.order = options.methods;
    choice.load = options.load;
    if (const portals::Status status = core::read_choice(*joined, words, choice); !status.ok())
      fail("init: " + status.sentence());
    {
      const host::Call call(*joined, kCall);
      // Set before open(), whose waits run handlers for contexts that are faster.
      here = {std::make_unique<Context>(*joined, settings, handlers).release(), false, 0};
      here.context->open(kCall, choice);
    }
    if (settings.threads != 0) {
      auto threads = std::make_unique<core::Threads>(*here.context, settings.threads);
      threads->start();
      here.context->threads = std::move(threads);
    }
  } catch (...) {
    leave(*joined);
    throw;
  }
}

}  // namespace

void init(int& argc, char**& argv, const Options& options) {
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  start(words, options);
  // The words that are left are in the order of the old ones.
  int kept = argc > 0 ? 1 : 0;
  std::size_t next = 0;
  for (int i = kept; i < argc; ++i) {
    if (next == words.size() || words[next] != argv[i]) continue;
    argv[kept++] = argv[i];
    ++next;
  }
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
}

void init(const Options& options) {
  std::vector<std::string> words;
  start(words, options);
}

void finish() {
  constexpr char kCall[] = "nexus::finish";
  Context& context = context_outside_handlers("finish");
  // It would wait for the end of its own handler.
  if (here.on_thread) fail("finish is called in a handler; call it in the thread that called init()");
  host::Rank& rank = context.host_rank;
  std::string failure;
  {
    const host::Call call(rank, kCall);
    try {
      context.settle(kCall);
      context.serve_barrier(kCall);
      // Modules that lose messages have no order with the barrier.
      context.poll_modules(true);
      context.take();
      while (context.run_next()) {
      }
      context.throw_pending();
    } catch (const error& caught) {
      failure = caught.what();
    }
  }
  leave(rank);
  if (!failure.empty()) throw error(failure);
}

int context() {
  return static_cast<int>(this_context("context").host_rank.rank());
}

int contexts() {
  return static_cast<int>(this_context("contexts").host_rank.size());
}

void register_handler(const std::string& name, Handler handler, Run run) {
  if (here.context != nullptr && run == Run::in_thread && !here.context->threaded()) {
    fail("register_handler: \"" + name +
         "\" runs in a thread, but there are none; set Options::threads or MARGAY_NEXUS_THREADS");
  }
  if (here.context == nullptr) return handlers_of_thread().add(name, std::move(handler), run);
  const core::Locked locked(here.context);
  here.context->handlers.add(name, std::move(handler), run);
}

void poll() {
  Context& context = context_outside_handlers("poll");
  const host::Call call(context.host_rank, "nexus::poll");
  context.serve(call.name());
  if (!here.on_thread) context.throw_pending();
}

void wait_until(const std::function<bool()>& done, Depends depends) {
  Context& context = context_outside_handlers("wait_until");
  const host::Call call(context.host_rank, "nexus::wait_until");
  const bool reports = !here.on_thread;
  const core::Here* const mine = &here;
  std::uint64_t seen = context.executions;
  context.serve_until(call.name(), portals::kAnyRank, depends == Depends::requests, [&] {
    // Another thread of the rank tests the wait, too, but must not call the program's function.
    if (&here != mine) return depends == Depends::anything || context.executions != seen;
    seen = context.executions;
    return done() || (reports && context.any_error());
  });
  if (reports) context.throw_pending();
}

void set_skip_poll(const std::string& method, std::uint32_t every) {
  Context& context = this_context("set_skip_poll");
  if (every == 0) fail("set_skip_poll: 0 is invalid; 1 polls each time, and set_polling() switches a method off");
  const host::Call call(context.host_rank, "nexus::set_skip_poll");
  const portals::Status status = context.set_skip_poll(method_of(context, "set_skip_poll", method), every);
  if (!status.ok()) fail("set_skip_poll: " + status.sentence());
}

void set_polling(const std::string& method, bool on) {
  Context& context = this_context("set_polling");
  const host::Call call(context.host_rank, "nexus::set_polling");
  const portals::Status status = context.set_polling(method_of(context, "set_polling", method), on);
  if (!status.ok()) fail("set_polling: " + status.sentence());
}

void set_parameter(const std::string& method, const std::string& name, const std::string& value) {
  Context& context = this_context("set_parameter");
  const host::Call call(context.host_rank, "nexus::set_parameter");
  const portals::Status status = method_of(context, "set_parameter", method).module->set_parameter({name, value});
  if (!status.ok()) fail("set_parameter: " + status.sentence());
}

void load_module(const std::string& path) {
  Context& context = this_context("load_module");
  const host::Call call(context.host_rank, "nexus::load_module");
  std::unique_ptr<core::Module> module;
  if (const portals::Status status = core::load_module(path, module); !status.ok())
    fail("load_module: " + status.sentence());
  const std::string name(module->name());
  core::SharedTable& own = context.tables[context.host_rank.rank()];
  core::Table table = *own;
  if (table.size() == core::kRowsMost)
    fail("load_module: the context has 16 methods, the maximum; choose fewer modules");
  context.load(std::move(module), {});
  const core::Method& method = *context.methods.find(name);
  table.push_back({name, method.own, core::kNoContext});
  own = std::make_shared<const core::Table>(std::move(table));
}

void forward(const std::string& method, int forwarder, const std::vector<int>& for_contexts) {
  Context& context = context_outside_handlers("forward");
  const host::Call call(context.host_rank, "nexus::forward");
  std::vector<std::uint32_t> contexts;
  contexts.reserve(for_contexts.size());
  for (const int each : for_contexts) contexts.push_back(static_cast<std::uint32_t>(each));
  context.add_forwarding(method, static_cast<std::uint32_t>(forwarder), contexts);
  // No request is forwarded before its receiver accepts it.
  context.serve_barrier(call.name());
}

Endpoint::Endpoint(void* local_address) : local_address_(local_address) {
  Context& context = this_context("Endpoint");
  life_ = context.life;
  {
    const core::Locked locked(&context);
    number_ = context.endpoints.add(*this, generation_);
  }
  if (number_ == 0)
    fail("Endpoint: the context has " + std::to_string(core::kEndpointsMost) + " endpoints, the maximum; destroy one");
}

Endpoint::~Endpoint() {
  Context* const context = here.context;
  if (context == nullptr || context->life != life_) {
    core::refuse_destruction(life_, number_);
    return;
  }
  std::uint32_t running = 0;
  {
    const core::Locked locked(context);
    running = context->endpoints.find(number_, generation_)->running;
    if (running == 0) context->endpoints.remove(number_);
  }
  if (running != 0) {
    context->host_rank.abort(1,
                             "endpoint " + std::to_string(number_) +
                                 " is destroyed while a handler runs for it; destroy it when the handler has returned");
  }
}

void Result::check() const {
  if (ok()) return;
  const Failure& first = failures.front();
  fail("send: the request to context " + std::to_string(first.context) + " was not sent: " + first.text);
}

Result send(Startpoint& startpoint, const std::string& handler, const Buffer& buffer) {
  Context& context = this_context("send");
  core::check_handler_name("send", handler);
  core::StartpointState& state = startpoint.state();
  if (state.links.empty()) fail("send: the startpoint is not bound; bind it to an endpoint, or get it from a buffer");
  if (state.life != context.life) fail("send: the startpoint was made before the last init(); make it again");
  const std::uint32_t number = core::handler_number(handler);
  Result result;
  const host::Call call(context.host_rank, "nexus::send");
  context.requested.try_emplace(number, handler);
  if (!context.request_all(state, number, buffer.bytes())) {
    // By index, because handlers that run meanwhile may bind and unbind.
    for (std::size_t i = 0; i < state.links.size(); ++i) {
      Failure failure;
      failure.link = i;
      if (!context.request(call.name(), *state.links[i], number, buffer.bytes(), failure))
        result.failures.push_back(std::move(failure));
    }
  }
  // "At least every time a Nexus operation is performed" (3.3).
  if (here.depth == 0 && !here.on_thread) context.serve(call.name());
  return result;
}

}  // namespace margay::nexus
