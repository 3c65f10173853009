#include "mpi_adi/object/communicator.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace margay::mpi_adi {

namespace {

// The number of a hint's bit is its index in this array.
constexpr std::array<std::string_view, 4> kNames{"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                                 "mpi_assert_exact_length", "mpi_assert_allow_overtaking"};

}  // namespace

void CommunicatorHints::set_from(const Info& info) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string* value = info.find(kNames[i]);
    if (value == nullptr) continue;
    // A value other than "true" and "false" does not change the hint.
    const auto bit = static_cast<std::uint8_t>(1U << i);
    if (*value == "true") promised_ = static_cast<std::uint8_t>(promised_ | bit);
    if (*value == "false") promised_ = static_cast<std::uint8_t>(promised_ & ~bit);
  }
}

void CommunicatorHints::write(Info& info) const {
  for (std::size_t i = 0; i < kNames.size(); ++i) info.set(kNames[i], (promised_ >> i & 1U) != 0 ? "true" : "false");
}

namespace {

std::string ranks_text(int count) {
  return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

}  // namespace

std::string communicator_text(ContextId context) {
  // Both contexts of a pair have the name of the first.
  return "communicator " + std::to_string(context & ~1);
}

std::string communicator_text(const Communicator& communicator) {
  // A communicator of the library appears under the name of the communicator that it serves.
  if (communicator.named_as != nullptr) return communicator_text(*communicator.named_as);
  if (!communicator.name.empty()) return communicator.name;
  const std::string word = communicator_text(communicator.context);
  if (!communicator.is_inter()) return word + " (" + ranks_text(communicator.size()) + ")";
  // Uses the order of the groups in the union, which is the same on all members, unlike this process's group and the
  // other.
  const bool mine_first = communicator.both == nullptr || communicator.both->rank() == communicator.rank();
  const int first = mine_first ? communicator.size() : communicator.peer_count();
  const int second = mine_first ? communicator.peer_count() : communicator.size();
  return "inter" + word + " (" + std::to_string(first) + " and " + ranks_text(second) + ")";
}

}  // namespace margay::mpi_adi
