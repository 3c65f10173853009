// A libFuzzer target for requests to a window's target: no body makes it read or write outside of the window's memory.
//   scripts/fuzz window_request 60
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/mpi_adi/window_requests.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace margay::mpi_adi;
  if (size == 0) return 0;
  test::GuardedMemory memory(data[0] % 2 != 0);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> body(bytes + 1, bytes + size);
  // Addresses differ from run to run, so those of a dynamic window count from the memory's beginning.
  if (body.size() >= sizeof(WindowRequestHead)) {
    std::uint64_t offset = 0;
    std::memcpy(&offset, body.data() + offsetof(WindowRequestHead, offset), sizeof offset);
    offset += memory.origin();
    std::memcpy(body.data() + offsetof(WindowRequestHead, offset), &offset, sizeof offset);
  }
  ConflictTable announced;
  for (int twice = 0; twice < 2; ++twice) {
    if (!memory.meets(body, announced)) std::abort();
  }
  return 0;
}
