// The modules of one context and the communication objects that they have opened. An object is shared by the links that
// lead to one context by one method (paper 003, 3.1). Each function requires that the thread is inside.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/nexus/module/module.hpp"
#include "libraries/nexus/table.hpp"

namespace margay::nexus::core {

// A module in this context, its polling and its counts.
struct Method {
  std::unique_ptr<Module> module;
  Traits traits;
  bool is_host = false;        // local, shm or tcp
  std::uint8_t number = 0;     // its place among this context's methods
  std::vector<std::byte> own;  // its descriptor of this context
  bool is_reachable = false;   // it has a descriptor
  std::string off;             // why it is switched off; empty: it is on
  std::uint32_t skip_poll = 1, countdown = 1;
  bool is_polled = true;
  std::uint64_t polls = 0, hits = 0, sent = 0, delivered = 0, lost = 0, dropped = 0;
  [[nodiscard]] std::string name() const { return std::string(module->name()); }
  // Whether it is polled at all: by Nexus, or by the kernel.
  [[nodiscard]] bool is_polled_method() const {
    return is_host ? module->name() != "local" : !traits.has(MARGAY_NEXUS_TRANSFORM);
  }
  [[nodiscard]] bool polls_itself() const { return !is_host && !traits.has(MARGAY_NEXUS_TRANSFORM); }
};

// A message that is queued until its method accepts it.
struct Pending {
  Frame frame;
  std::vector<std::byte> body;
  std::optional<LinkData> link;  // of a request: its table and demands, in case that the method fails
};

// A communication object, the messages that it has not accepted, and its state.
struct Way {
  Method* method = nullptr;
  std::uint32_t context = 0;
  std::unique_ptr<Object> object;
  std::deque<Pending> queue;
  std::size_t queued_bytes = 0;
  std::string failed;        // the reason of its failure; empty: it works
  bool is_unclosed = false;  // messages were sent after the last FrameKind::closing
  std::uint32_t fulls = 0;   // successive sends that it rejected as full
};
using SharedWay = std::shared_ptr<Way>;

class Methods {
 public:
  // Adds a module that is started. Requires: no method of its name.
  Method& add(std::unique_ptr<Module> module, bool is_host);
  [[nodiscard]] Method* find(std::string_view name);
  [[nodiscard]] std::list<Method>& all() { return methods_; }
  // Whether a module is polled by this library.
  [[nodiscard]] bool any_polled() const { return any_polled_; }
  // The object for targets, opened on first use. `variant`: distinguishes objects of transforms by the method below.
  [[nodiscard]] portals::Status open(Method& method, std::span<const Target> targets, std::string_view variant,
                                     SharedWay& out);
  // Why the object for a target has failed; empty: it has not, or there is none.
  [[nodiscard]] std::string failure(const Method& method, const Target& target) const;
  [[nodiscard]] std::map<std::string, SharedWay>& ways() { return ways_; }
  // Closes all objects and ends all modules.
  void finish();

 private:
  std::list<Method> methods_;  // of stable addresses
  std::map<std::string, SharedWay> ways_;
  bool any_polled_ = false;
};

}  // namespace margay::nexus::core
