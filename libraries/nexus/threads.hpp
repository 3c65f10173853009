// The threads of one context: one takes messages while the program computes, the others run handlers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "libraries/nexus/context.hpp"

namespace margay::nexus::core {

class Threads final : public HandlerThreads {
 public:
  // `most`: the maximum number of concurrent handlers. Handler threads start when they are first needed.
  Threads(Context& context, std::uint32_t most) : context_(context), most_(most) {}
  // Throws `error` if the thread that takes messages cannot be created. Outside.
  void start();
  [[nodiscard]] portals::Status push(OwnedItem& item, Registered& handler) override;
  void stop() override;

 private:
  void take_messages();
  void run_handlers();
  // Requires: mutex_.
  [[nodiscard]] portals::Status begin(void (Threads::*function)());

  Context& context_;
  const std::uint32_t most_;
  // Taken under the process lock, too, and never the other way around. It guards what follows; threads_ does not change
  // after stopping_.
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::uint32_t runners_ = 0, idle_ = 0;
  std::condition_variable changed_;
  std::deque<std::pair<OwnedItem, Registered*>> work_;
  bool stopping_ = false;
};

}  // namespace margay::nexus::core
