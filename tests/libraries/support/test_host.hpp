// The host of a program whose ranks are a part of it, without libmpi. Included by one file of the program.
#pragma once

#include <cstdint>

#include "margay/host.hpp"

namespace margay::testing {

class TestHost final : public host::Host {
 public:
  // Joins the rank of the calling thread.
  [[nodiscard]] portals::Status join(const host::Library& /*library*/, bool /*threads*/, const void* /*caller*/,
                                     host::Rank*& out) override {
    out = mine;
    return {};
  }
  int run_ranks(int argc, char** argv, int (*entry)(int, char**)) override { return entry(argc, argv); }
  void check_end(const host::Outgoing& /*message*/) override {}

  static inline thread_local host::Rank* mine = nullptr;
};

}  // namespace margay::testing

extern "C" int MPI_Get_version(int* version, int* subversion) {
  *version = 4, *subversion = 0;
  return 0;
}
extern "C" margay::host::Host* MPIX_Margay_host(std::uint32_t /*version*/) {
  static margay::testing::TestHost host;
  return &host;
}
