#include "sim/base/resources.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

namespace margay::sim {

TEST_CASE("the limit on open files is raised for a job that needs more, and unchanged for another") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(before.rlim_max > 300);
  rlimit low = before;
  low.rlim_cur = 200;
  rlimit now{};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  raise_descriptor_limit_for(descriptors_of_job(8));
  REQUIRE(getrlimit(RLIMIT_NOFILE, &now) == 0);
  CHECK(now.rlim_cur == 200);
  raise_descriptor_limit_for(descriptors_of_job(100));
  REQUIRE(getrlimit(RLIMIT_NOFILE, &now) == 0);
  CHECK(now.rlim_cur == before.rlim_max);
  CHECK(now.rlim_max == before.rlim_max);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

}  // namespace margay::sim
