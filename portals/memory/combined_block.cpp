#include "portals/memory/combined_block.hpp"

#include "portals/memory/window.hpp"

namespace margay::portals {

Passed CombinedBlock::admit(const Options& options, const Header& header) const {
  return admit_in_window(memory_.bytes(), local_offset_, options, header);
}

void CombinedBlock::reserve(const Options& options, const Header& header, Verdict& verdict) {
  verdict.saved = header.kind == Kind::get ? Saved::nothing : Saved::body;
  reserve_in_window(memory_, local_offset_, options, header, verdict);
}

// A combined block has no place for a header.
void CombinedBlock::commit(const Verdict& /*verdict*/, const Header& /*header*/) {}

void CombinedBlock::give_back(const Verdict& verdict) {
  give_back_in_window(local_offset_, verdict);
}

}  // namespace margay::portals
