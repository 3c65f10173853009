// A libFuzzer target for the command line of `margay run`, a word on each line. An accepted line has a program in each
// part and ranks within their bound; a rejected one has a message. Options that read files are left to tests/sim.
// Corpus: tests/fuzz/run_options_corpus.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/select/choose.hpp"
#include "command/run/options/plan.hpp"
#include "command/run/options/tokens.hpp"
#include "portals/base/assert.hpp"
#include "sim/boot/board.hpp"

namespace margay {

// The registry of algorithms reads the value of --collective; it is left out here
// (tests/collectives/select/choose_test).
portals::Status collectives::parse_requested_algorithms(std::string_view /*text*/, RequestedAlgorithms& /*out*/) {
  return {};
}

}  // namespace margay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::command;
  using namespace margay::sim;
  const std::string text(reinterpret_cast<const char*>(data), bytes);
  for (const char* reads_file : {"file", "-f"}) {
    if (text.find(reads_file) != std::string::npos) return 0;
  }
  std::vector<std::string> tokens;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    tokens.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  RunOptions options;
  const Status status = parse_run_options(tokens, options);
  if (!status.ok() || options.programs.empty()) return 0;
  for (const ProgramSpec& program : options.programs) MARGAY_ASSERT(!program.argv.empty() && program.ranks >= 1);
  const JobPlan plan = make_plan(options);
  MARGAY_ASSERT(plan.size() <= kRanksMax && plan.node_of_rank.size() == plan.size());
  std::vector<std::string> shell_words;
  static_cast<void>(split_tokens(text, shell_words).ok());
  return 0;
}
