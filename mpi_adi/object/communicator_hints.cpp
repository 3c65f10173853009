#include "mpi_adi/object/communicator_hints.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace margay::mpi_adi {

namespace {

constexpr std::array<std::string_view, 4> kNames{"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                                 "mpi_assert_exact_length", "mpi_assert_allow_overtaking"};

}  // namespace

void CommunicatorHints::set_from(const Info& info) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string* value = info.find(kNames[i]);
    if (value == nullptr) continue;
    const auto bit = static_cast<std::uint8_t>(1U << i);
    if (*value == "true") promised_ = static_cast<std::uint8_t>(promised_ | bit);
    if (*value == "false") promised_ = static_cast<std::uint8_t>(promised_ & ~bit);
  }
}

void CommunicatorHints::tell(Info& info) const {
  for (std::size_t i = 0; i < kNames.size(); ++i) info.set(kNames[i], (promised_ >> i & 1U) != 0 ? "true" : "false");
}

}  // namespace margay::mpi_adi
