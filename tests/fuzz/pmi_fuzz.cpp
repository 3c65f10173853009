// A libFuzzer target for PMI-1.1 lines as the launcher gets them from ranks. Each line of the input goes to the server
// from the rank that its first byte chooses. For any contents every answer is one line, and no rank is answered twice
// for one request except by a barrier. Corpus: tests/fuzz/pmi_corpus.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "command/run/pmi/pmi_server.hpp"
#include "portals/base/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::command;
  using namespace margay::sim;
  constexpr std::uint32_t kRanks = 3;
  PmiServer server("kvs", {0, 0, 1}, {0, 0, 1});
  std::string_view left(reinterpret_cast<const char*>(data), bytes);
  while (!left.empty()) {
    const auto rank = static_cast<std::uint32_t>(static_cast<unsigned char>(left.front())) % kRanks;
    left.remove_prefix(1);
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(line.size() < left.size() ? line.size() + 1 : line.size());
    const PmiOutcome outcome = server.take_line(rank, line);
    MARGAY_ASSERT(outcome.replies.size() <= 1 || outcome.replies.size() == kRanks);
    for (const PmiReply& reply : outcome.replies) {
      MARGAY_ASSERT(reply.rank < kRanks && reply.line.find('\n') == reply.line.size() - 1);
    }
    std::vector<std::uint32_t> nodes;
    if (parse_process_mapping(line, kRanks, nodes).ok()) MARGAY_ASSERT(nodes.size() == kRanks);
  }
  return 0;
}
