// What one handle shows of variables that only add up: what was added while it was started, from 0 at its beginning.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "mpi/layers.hpp"
#include "mpi/tool/variable/value.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi {

// `now` is always the library's own sums, one word for each element; they never shrink but when MPI begins anew, which
// counts as nothing added.
class Accumulator {
 public:
  explicit Accumulator(std::size_t elements) : kept_(elements), begin_(elements) {}

  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] std::size_t elements() const { return kept_.size(); }
  // No effect on one that is started already.
  void start(std::span<const Word> now) {
    if (started_) return;
    begin_from(now);
    started_ = true;
  }
  // The same for one that is stopped.
  void stop(std::span<const Word> now) {
    if (!started_) return;
    read(now, kept_);
    started_ = false;
  }
  void read(std::span<const Word> now, std::span<Word> out) const {
    MARGAY_ASSERT(now.size() == kept_.size() && out.size() == kept_.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = kept_[i] + (started_ ? now[i] - std::min(begin_[i], now[i]) : 0);
    }
  }
  // Goes on from `values`.
  void write(std::span<const Word> now, std::span<const Word> values) {
    MARGAY_ASSERT(values.size() == kept_.size());
    kept_.assign(values.begin(), values.end());
    begin_from(now);
  }
  void reset(std::span<const Word> now) {
    std::fill(kept_.begin(), kept_.end(), 0);
    begin_from(now);
  }

 private:
  void begin_from(std::span<const Word> now) {
    MARGAY_ASSERT(now.size() == begin_.size());
    begin_.assign(now.begin(), now.end());
  }

  std::vector<Word> kept_;
  std::vector<Word> begin_;  // the sums when it was last started, reset or written
  bool started_ = false;
};

}  // namespace margay::mpi
