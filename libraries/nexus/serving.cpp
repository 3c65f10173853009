// Serving: polls of modules, the execution of handlers, and the end of all requests.
#include <cxxabi.h>

#include <cstring>
#include <utility>

#include "libraries/nexus/context.hpp"

namespace margay::nexus::core {

void Context::serve(const char* call) {
  static_cast<void>(call);
  static_cast<void>(host_rank.progress());
  take();
  if (methods.any_polled()) {
    poll_modules();
    take();
  }
  while (run_next()) {
  }
}

bool Context::poll_modules(bool all) {
  bool moved = false;
  for (Method& method : methods.all()) {
    if (!method.polls_itself() || !method.off.empty()) continue;
    if (!all && (!method.is_polled || --method.countdown != 0)) continue;
    method.countdown = method.skip_poll;
    ++method.polls;
    ++count(kPolls);
    std::string why;
    const int delivered = method.module->poll(kPollMost, why);
    if (delivered < 0) switch_off(*method.module, why);
    if (delivered <= 0) continue;
    ++method.hits;
    ++count(kHits);
    moved = true;
  }
  return moved;
}

portals::Status Context::set_skip_poll(Method& method, std::uint32_t every) {
  if (!method.is_polled_method()) return portals::Status::error(method.name() + " is not polled");
  if (method.is_host) {
    // The kernel records the change.
    portals::Status status = host_rank.set_poll_interval(method.name(), std::to_string(every));
    if (!status.ok()) return status;
  } else if (host_rank.recording()) {
    host_rank.record({.number = kPollsEvery, .a = method.number, .b = every});
  }
  method.skip_poll = method.countdown = every;
  return {};
}

portals::Status Context::set_polling(Method& method, bool on) {
  if (!method.is_polled_method()) return portals::Status::error(method.name() + " is not polled");
  if (method.is_host) {
    portals::Status status = host_rank.set_polling(method.name(), on);
    if (!status.ok()) return status;
  } else if (host_rank.recording()) {
    host_rank.record({.number = kPollsEvery, .a = method.number, .b = on ? method.skip_poll : 0});
  }
  method.is_polled = on;
  return {};
}

bool Context::runnable() const {
  return !ready_.empty() && here.depth == 0 && !here.on_thread;
}

bool Context::run_next() {
  if (!runnable()) return false;
  OwnedItem item = std::move(ready_.front());
  ready_.pop_front();
  Registered* const handler = handlers.find(item->frame.handler);
  execute(std::move(item), *handler);
  return true;
}

void Context::execute(OwnedItem item, Registered& handler) {
  const Frame& frame = item->frame;
  Slot* const slot = endpoints.find(frame.endpoint, frame.generation);
  if (slot == nullptr) {
    ++count(kDropped);
    return release(*item);
  }
  if (host_rank.recording()) {
    host_rank.record({.number = kBegins,
                      .peer = item->source,
                      .bytes = item->body.size(),
                      .a = frame.handler,
                      .b = frame.endpoint,
                      .of_arrived = item->in_heap});
  }
  ++slot->running;
  ++here.depth;
  std::string failed;
  host::run_program(host_rank, [&] {
    try {
      Buffer buffer = Buffer::view(item->body);
      handler.function(*slot->endpoint, buffer);
    } catch (const std::exception& exception) {
      failed = exception.what();
    } catch (const abi::__forced_unwind&) {
      throw;
    } catch (...) {
      failed = "an exception that is not a std::exception";
    }
  });
  --here.depth;
  --slot->running;
  ++executions;
  if (item->counts) ++count(kExecuted);
  if (host_rank.recording()) host_rank.record({.number = kEnds, .a = frame.handler, .b = frame.endpoint});
  if (!failed.empty()) {
    add_error("the handler \"" + handler.name + "\", requested by context " + std::to_string(item->source) +
              ", threw: " + failed);
  }
  release(*item);
}

// Bodies may be kept here. A peer confirms a way after it has fetched all bodies of its requests, so a body that is
// kept after that belongs to a request for a destroyed endpoint, which the peer's kernel has dropped.
bool Context::quiet() {
  return ready_.empty() && busy_ == 0 && arriving_.empty() && queued_bytes_ == 0 && traffic.is_sent() &&
         unanswered_ == 0 && order_.kept() == 0 && drains_.empty();
}

bool Context::close_ways() {
  bool any = false;
  for (const auto& [key, way] : methods.ways()) {
    const bool answers = way->failed.empty() && way->method->traits.has(MARGAY_NEXUS_RELIABLE);
    if (!std::exchange(way->is_unclosed, false) || !answers) continue;
    Frame frame;
    frame.kind = FrameKind::closing;
    frame.origin = me();
    const std::uint64_t sends = sends_;
    if (!transmit(*way, frame, {})) continue;
    // Waves do not count this send.
    sends_ = sends;
    way->is_unclosed = false;
    ++unanswered_;
    any = true;
  }
  for (const std::uint32_t context : std::exchange(noticed_, {})) {
    traffic.send_control(context, Control::closing);
    ++unanswered_;
    any = true;
  }
  return any;
}

// Termination: a context takes part in a wave only while it has neither queued nor running requests, and every context
// to which it has sent has confirmed the arrival of all messages. If the sums of sends of two successive waves are
// equal, no context has sent between its two parts, so nothing is under way.
void Context::contribute() {
  if (given_ == wave_) return;
  given_ = wave_;
  if (me() == 0) return count_wave(sends_);
  traffic.send_control(0, Control::wave, wave_, std::as_bytes(std::span(&sends_, 1)));
}

void Context::count_wave(std::uint64_t sends) {
  wave_sum_ += sends;
  if (++in_wave_ != host_rank.size()) return;
  const std::uint64_t sum = std::exchange(wave_sum_, 0);
  in_wave_ = 0;
  is_over_ = sum == std::exchange(last_sum_, sum);
  if (!is_over_) ++wave_;
  for (std::uint32_t peer = 1; peer < host_rank.size(); ++peer)
    traffic.send_control(peer, is_over_ ? Control::over : Control::again, wave_);
}

void Context::settle(const char* call) {
  // Requests may be under way by a method whose polling the program has switched off.
  for (Method& method : methods.all()) {
    if (method.is_polled || !method.off.empty()) continue;
    if (const portals::Status status = set_polling(method, true); !status.ok()) fail(status.sentence());
  }
  serve_until(call, portals::kAnyRank, true, [this] {
    if (!quiet() || close_ways()) return false;
    contribute();
    return is_over_;
  });
}

void Context::serve_barrier(const char* call) {
  host_rank.begin_barrier();
  serve_until(call, portals::kAnyRank, true, [this] { return !host_rank.in_barrier(); });
  if (const portals::Status status = host_rank.end_barrier(call); !status.ok()) fail(status.sentence());
}

}  // namespace margay::nexus::core
