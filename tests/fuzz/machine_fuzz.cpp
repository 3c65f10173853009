// A libFuzzer target for machine files: any text is a machine on which messages travel, or an error with its place.
// Corpus: tests/fuzz/machine_corpus.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "virtual_machine/model/network_model.hpp"

namespace {

using namespace margay::virtual_machine;

// Larger machines would take the time of many small ones.
constexpr std::uint32_t kNodes = 4096;
constexpr std::uint32_t kRanks = 64;

void send_messages(Machine machine) {
  for (const Network& network : machine.networks) {
    Network least = network;
    std::replace(least.shape.begin(), least.shape.end(), 0U, 1U);
    if (places_of(least) > kNodes) return;
  }
  machine.nodes = std::min(machine.nodes, kNodes);
  std::uint32_t ranks = kRanks;
  while (ranks > 0 && !check_ranks(machine, ranks).ok()) --ranks;
  if (ranks == 0) return;
  NetworkModel model(machine, ranks);
  for (std::uint32_t to = 0; to < ranks; ++to) {
    const std::uint64_t arrival_ns = model.transfer(0, to, 1000, to).arrival_ns;
    if (arrival_ns < to) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  Machine machine;
  const margay::portals::Status status =
      parse_machine(std::string_view(reinterpret_cast<const char*>(data), bytes), "m.toml", machine);
  if (status.ok()) {
    send_messages(machine);
  } else if (!status.sentence().starts_with("m.toml:") || status.sentence().find('\n') != std::string::npos) {
    std::abort();
  }
  return 0;
}
