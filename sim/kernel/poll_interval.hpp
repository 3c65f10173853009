// The interval from one poll of a wire to the next, in rounds of progress: fixed, or adaptive.
//
// The adaptive interval depends on two measured numbers:
//
//   C  the cost of a poll that finds nothing, in rounds without that poll
//   F  messages that the process's other wires bring for each one of this wire
//
// An interval of n rounds delays a message of this wire by n/2 rounds on average. Of the messages of the other wires,
// the share C/n arrives during a poll of this wire and waits for its end, C/2 rounds on average. The sum over one
// message of this wire and F others, n/2 + F C C/2n, is least for
//
//   n = C sqrt(F)
//
// If only this wire brings messages, n is the least interval; while only the others do, F grows with each of their
// messages. The interval stays within two bounds. It is at least kLeast rounds. It is at most kMostShare C rounds: then
// the polls take less than 1/kMostShare of the time, so a longer interval would gain nothing, and the first message
// after a long silence waits for the time of kMostShare polls at most.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sim/base/poll_setting.hpp"

namespace margay::sim {

// One wire's interval. A pure machine: time comes in as arguments.
class PollInterval {
 public:
  // Bounds of the adaptive interval; see above. An interval is a power of 2 within them.
  static constexpr std::uint32_t kLeast = 8;
  static constexpr std::uint32_t kMostShare = 64;

  // Begins anew; adaptive intervals begin with kLeast and keep the measured cost.
  void set(const PollSetting& setting) {
    adaptive_ = setting.mode == PollMode::adaptive;
    rounds_ = adaptive_ ? kLeast : setting.interval;
    others_ = 0;
  }
  [[nodiscard]] bool adaptive() const { return adaptive_; }
  // The present interval, at least 1.
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  // The mean cost of a poll that finds nothing; 0: not measured.
  [[nodiscard]] double cost_ns() const { return cost_ns_; }

  // The measured duration of a poll that found nothing, and of a round without a poll of this wire.
  void record_cost(double ns) { smooth(cost_ns_, ns); }
  // The program may compute between two rounds, so the duration follows smaller measurements, and larger ones slowly.
  void record_round(double ns) {
    if (round_ns_ == 0 || ns < round_ns_) return smooth(round_ns_, ns);
    round_ns_ += (std::min(ns, 2 * round_ns_) - round_ns_) / kLargerShare;
  }
  // A poll found something, after `others` messages of other wires since the last such poll. Half of the mean is the
  // latest observation: after a long silence, ten messages undo a thousand of the other wires.
  void record_hit(std::uint64_t others) { others_ = (others_ + static_cast<double>(others)) / 2; }

  // Chooses the interval again, `others` messages of other wires after the wire's last own one. Returns whether it has
  // changed. Fixed intervals never change.
  bool choose(std::uint64_t others) {
    if (!adaptive_ || cost_ns_ == 0) return false;
    const double cost = cost_ns_ / std::max(round_ns_, 1.0);
    const double ideal = cost * std::sqrt(std::max(others_, static_cast<double>(others)));
    const double chosen = std::clamp(ideal, double{kLeast}, std::max(double{kLeast}, kMostShare * cost));
    // A smaller interval is chosen only well below the present one, or the choice would alternate between two.
    if (chosen < 2.0 * rounds_ && chosen > 0.75 * rounds_) return false;
    const auto next = std::bit_floor(static_cast<std::uint32_t>(std::min(chosen, double{kPollIntervalMax})));
    return std::exchange(rounds_, next) != next;
  }

 private:
  // The share of a larger duration of a round.
  static constexpr double kLargerShare = 512;
  // A mean over the latest eight measurements or so. A measurement counts at most as four times the mean, because the
  // thread may have lost its processor during it.
  static void smooth(double& mean, double measured) {
    constexpr double kMostOfMean = 4, kShare = 8;
    mean = mean == 0 ? measured : mean + (std::min(measured, kMostOfMean * mean) - mean) / kShare;
  }

  bool adaptive_ = false;
  std::uint32_t rounds_ = 1;
  double cost_ns_ = 0;
  double round_ns_ = 0;
  // Mean number of messages of other wires between two polls of this wire that found something.
  double others_ = 0;
};

}  // namespace margay::sim
