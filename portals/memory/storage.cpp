#include "portals/memory/storage.hpp"

#include "portals/base/assert.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/dynamic_block.hpp"

namespace margay::portals {

namespace {

// Calls `action` with the descriptor as its own type. A switch and not virtual functions, because the steps are private
// to portals, and the compiler sees all four.
template <class Base, class Action>
decltype(auto) with_type(Base& descriptor, Action action) {
  constexpr bool kConst = std::is_const_v<Base>;
  const auto as = [&]<class Type>() -> decltype(auto) {
    return static_cast<std::conditional_t<kConst, const Type, Type>&>(descriptor);
  };
  switch (descriptor.type()) {
    case DescriptorType::single_block:
      return action(as.template operator()<SingleBlock>());
    case DescriptorType::dynamic_block:
      return action(as.template operator()<DynamicBlock>());
    case DescriptorType::combined_block:
      return action(as.template operator()<CombinedBlock>());
    case DescriptorType::independent_block:
      break;
  }
  return action(as.template operator()<IndependentBlock>());
}

}  // namespace

Passed Storage::admit_other(const Descriptor& descriptor, const Options& options, const Header& header) {
  return with_type(descriptor, [&](const auto& block) { return block.admit(options, header); });
}

void Storage::reserve_other(Descriptor& descriptor, const Options& options, const Header& header, Verdict& verdict) {
  with_type(descriptor, [&](auto& block) { block.reserve(options, header, verdict); });
  // Until commit or give_back; the counter's meaning is in Descriptor::reserved_messages().
  ++descriptor.reserved_messages_;
}

void Storage::commit_other(const Verdict& verdict, const Header& header) {
  with_type(*verdict.descriptor, [&](auto& block) { block.commit(verdict, header); });
  // Each reserve_other() has one commit or one give_back.
  MARGAY_ASSERT(verdict.descriptor->reserved_messages_ != 0);
  --verdict.descriptor->reserved_messages_;
}

void Storage::give_back(const Verdict& verdict) {
  with_type(*verdict.descriptor, [&](auto& block) { block.give_back(verdict); });
  // Rows have their own state and are not counted in reserved_messages_.
  if (independent(*verdict.descriptor) != nullptr) return;
  MARGAY_ASSERT(verdict.descriptor->reserved_messages_ != 0);
  --verdict.descriptor->reserved_messages_;
}

}  // namespace margay::portals
