// A handle's value of a variable that only grows: the variable's growth while the handle was started, from 0 on.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "mpi/layers.hpp"
#include "mpi/tool/variable/value.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi {

// Keeps the handle's own sums, one for each element. `now`: the library's sums, one word for each element. They shrink
// only when MPI begins anew; a sum that has shrunk counts as unchanged.
class Accumulator {
 public:
  // Stopped, with sums of 0.
  explicit Accumulator(std::size_t elements) : kept_(elements), begin_(elements) {}

  // Whether changes are counted now.
  [[nodiscard]] bool started() const { return started_; }
  // Elements of the variable.
  [[nodiscard]] std::size_t elements() const { return kept_.size(); }
  // Starts counting; no effect if started.
  void start(std::span<const Word> now) {
    if (started_) return;
    begin_from(now);
    started_ = true;
  }
  // Stops counting and keeps the sums; no effect if stopped.
  void stop(std::span<const Word> now) {
    if (!started_) return;
    read(now, kept_);
    started_ = false;
  }
  // Writes the sums to `out`. Requires: `now` and `out` have elements() words.
  void read(std::span<const Word> now, std::span<Word> out) const {
    MARGAY_ASSERT(now.size() == kept_.size() && out.size() == kept_.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = kept_[i] + (started_ ? now[i] - std::min(begin_[i], now[i]) : 0);
    }
  }
  // Sets the sums to `values` and counts on from there if started (MPI_T_pvar_write).
  void write(std::span<const Word> now, std::span<const Word> values) {
    MARGAY_ASSERT(values.size() == kept_.size());
    kept_.assign(values.begin(), values.end());
    begin_from(now);
  }
  // Sets the sums to 0 (MPI_T_pvar_reset).
  void reset(std::span<const Word> now) {
    std::fill(kept_.begin(), kept_.end(), 0);
    begin_from(now);
  }

 private:
  // Later changes count from here.
  void begin_from(std::span<const Word> now) {
    MARGAY_ASSERT(now.size() == begin_.size());
    begin_.assign(now.begin(), now.end());
  }

  // The sums up to the last stop, reset or write.
  std::vector<Word> kept_;
  std::vector<Word> begin_;  // the library's sums at the last start, reset or write
  bool started_ = false;
};

}  // namespace margay::mpi
