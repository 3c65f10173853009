// The name of a service (MPI_Publish_name) as one word of a PMI line. Pure.
#pragma once

#include <string>
#include <string_view>

namespace margay::mpi {

// The longest name of a service that margay accepts, in bytes without the zero. As a word it fits a value of PMI-1.1
// (1,024 bytes), of which each byte may take three.
inline constexpr std::size_t kServiceNameBytesMax = 255;

// The name as a word of a line (sim::to_pmi_word()). Names of letters, digits and other punctuation are
// unchanged, so programs of other MPI libraries that use the same launcher find them.
[[nodiscard]] std::string service_word(std::string_view name);

}  // namespace margay::mpi
