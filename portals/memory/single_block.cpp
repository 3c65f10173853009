#include "portals/memory/single_block.hpp"

#include "portals/memory/window.hpp"

namespace margay::portals {

Passed SingleBlock::admit(const Options& options, const Header& header) const {
  return admit_in_window(memory_.bytes, local_offset_, options, header);
}

void SingleBlock::reserve(const Options& options, const Header& header, Verdict& verdict) {
  // A get saves no body; its header may be asked for all the same.
  const auto kept = header.kind == Kind::get ? static_cast<unsigned>(options.save) & static_cast<unsigned>(Save::header)
                                             : static_cast<unsigned>(options.save);
  verdict.saved = static_cast<Saved>(kept);
  reserve_in_window(Region(memory_), local_offset_, options, header, verdict);
}

void SingleBlock::commit(const Verdict& verdict, const Header& header) {
  if (verdict.saved == Saved::header || verdict.saved == Saved::both) saved_header_ = header;
}

void SingleBlock::give_back(const Verdict& verdict) {
  give_back_in_window(local_offset_, verdict);
}

}  // namespace margay::portals
