// Tests of the tags of agreements that are identified by a text and the members.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "collectives/comm/agree.hpp"
#include "collectives/comm/construct.hpp"
#include "mpi_adi/object/group_ops.hpp"

namespace margay::collectives {

TEST_CASE("equal texts and members have equal tags, others different ones, and none is MPI_ANY_TAG") {
  const mpi_adi::GroupPtr one = mpi_adi::make_group({0, 1, 2}, 0), other = mpi_adi::make_group({0, 2}, 0);
  CHECK(TextTag("text", *one).tag == TextTag("text", *mpi_adi::make_group({0, 1, 2}, 2)).tag);
  CHECK(TextTag("text", *one).hash != TextTag("text", *other).hash);
  std::set<int> tags;
  constexpr int kTexts = 1000;
  for (int i = 0; i < kTexts; ++i) {
    for (const auto& group : {one, other}) tags.insert(TextTag("thread " + std::to_string(i), *group).tag);
  }
  CHECK(tags.size() == 2 * kTexts);
  CHECK(tags.count(MPI_ANY_TAG) == 0);
  for (const int tag : tags) CHECK((static_cast<std::uint32_t>(tag) >> 30) == static_cast<unsigned>(Agreement::text));
}

}  // namespace margay::collectives
