// A process alone among others that do not run (tests/libraries/support/loop_host.hpp): a fuzz target's input is their
// messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include "tests/fuzz/script.hpp"
#include "tests/libraries/support/loop_host.hpp"

namespace margay::fuzz {

constexpr std::uint32_t kProcesses = 3;

// Makes the messages of an input, for one process.
class Feeder {
 public:
  Feeder(testing::LoopRank& rank, std::span<const std::byte> input) : rank_(rank), script_(input) {}
  virtual ~Feeder() = default;
  // Adds the next message. Returns false when the input is used up.
  bool feed() {
    if (!is_started_) {
      is_started_ = true;
      return start();
    }
    return !script_.empty() && add_next();
  }

 protected:
  // The sanitizer's allocator ends a program that has no memory for a long body.
  static constexpr std::uint64_t kLongMost = std::uint64_t{1} << 20;

  // Adds the messages by which the start of the library ends.
  virtual bool start() = 0;
  virtual bool add_next() = 0;
  bool add(portals::Header& header, std::span<const std::byte> bytes) {
    header.destination.rank = rank_.rank();
    rank_.inject(header, bytes);
    return true;
  }
  // One of the two other processes.
  [[nodiscard]] std::uint32_t other(std::uint8_t choice) const {
    return (rank_.rank() + 1 + choice % 2) % rank_.size();
  }

  testing::LoopRank& rank_;
  Script script_;

 private:
  bool is_started_ = false;
};

// Runs `program` on one of the processes. The first byte of the input has its number, and that of nodes.
template <class Feeder>
void run_alone(std::span<const std::byte> input, void (*program)()) {
  if (input.empty()) return;
  const auto choice = static_cast<std::uint8_t>(input.front());
  testing::LoopJob job(kProcesses, 1, 1 + choice / 2 % 2);
  testing::LoopRank& rank = job.rank(choice % 2);
  Feeder feeder(rank, input.subspan(1));
  rank.set_script([&] { return feeder.feed(); });
  // What a library has of the process belongs to its thread.
  std::thread([&] {
    testing::TestHost::mine = &rank;
    program();
  }).join();
}

}  // namespace margay::fuzz
