#include "collectives/portal/kept_memory.hpp"

namespace margay::collectives {

// Takes the shortest run that is long enough, unless more than three quarters of it would lie idle.
KeptMemory::Run KeptMemory::take(const std::shared_ptr<KeptMemory>& from, std::uint64_t bytes) {
  Run run;
  if (bytes < kLongBytes || bytes > kKeptBytes) {
    run.memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    return run;
  }
  run.keeper_ = from;
  std::vector<Free>& free = from->free_;
  auto best = free.end();
  for (auto it = free.begin(); it != free.end(); ++it) {
    if (it->bytes >= bytes && it->bytes / 4 <= bytes && (best == free.end() || it->bytes < best->bytes)) best = it;
  }
  if (best == free.end()) {
    run.bytes_ = bytes;
    run.memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    return run;
  }
  run.bytes_ = best->bytes;
  run.memory_ = std::move(best->memory);
  from->kept_bytes_ -= run.bytes_;
  free.erase(best);
  return run;
}

void KeptMemory::keep(std::unique_ptr<std::byte[]> memory, std::uint64_t bytes) {
  kept_bytes_ += bytes;
  free_.push_back({std::move(memory), bytes});
  // Frees the oldest runs first, because no recent call has taken them.
  while (kept_bytes_ > kKeptBytes) {
    kept_bytes_ -= free_.front().bytes;
    free_.erase(free_.begin());
  }
}

}  // namespace margay::collectives
