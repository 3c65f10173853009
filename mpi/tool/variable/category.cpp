#include "mpi/tool/variable/category.hpp"

#include <array>

namespace margay::mpi {

namespace {

// docs/tool_interface.md lists the variables by these names.
constexpr std::array kCategories{
    CategoryText{"margay", "everything that this library shows of itself"},
    CategoryText{"protocols", "how messages are sent: thresholds, and what each protocol carried"},
    CategoryText{"queues", "posted receives, unexpected messages and requests under way"},
    CategoryText{"heap", "the heap of unexpected messages"},
    CategoryText{"wires", "shared memory and TCP: methods, sizes, and what each wire carried"},
    CategoryText{"kernel", "the message kernel: matching, deliveries, drops and lost peers"},
    CategoryText{"waiting", "what a rank does while it waits, and what that costs"},
    CategoryText{"job", "the job's limits and places"},
    CategoryText{"windows", "one-sided communication: puts, gets and accumulates, by the way that they took"},
};
static_assert(kCategories.size() == static_cast<std::size_t>(Category::windows) + 1);

}  // namespace

std::span<const CategoryText> categories() {
  return kCategories;
}

}  // namespace margay::mpi
