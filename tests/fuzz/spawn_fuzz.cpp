// A libFuzzer target for spawn requests, as the launcher reads them from a rank: each line of the input is a line of
// the request, after mcmd=spawn. For any contents the request ends within the bound of commands, a request without an
// error is within all bounds, and every answer is one line that a client can parse. Corpus: tests/fuzz/spawn_corpus.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "command/run/pmi/spawn_order.hpp"
#include "portals/base/assert.hpp"
#include "sim/boot/pmi_message.hpp"

namespace {

using namespace margay::command;

void check(SpawnReader& reader) {
  const std::string error = reader.error();
  const SpawnOrder order = reader.take_order();
  MARGAY_ASSERT(!reader.is_incomplete());
  if (error.empty()) {
    MARGAY_ASSERT(!order.commands.empty() && order.commands.size() <= kMaxSpawnCommands);
    MARGAY_ASSERT(order.processes() <= kMaxSpawnProcesses && order.preput.size() <= kMaxSpawnPairs);
    for (const SpawnCommand& command : order.commands) {
      MARGAY_ASSERT(!command.program.empty() && command.arguments.size() <= kMaxSpawnArguments);
      MARGAY_ASSERT(command.info.size() <= kMaxSpawnPairs);
      for (const auto& [key, value] : command.info) {
        std::vector<bool> allowed;
        if (parse_soft(value, command.processes, allowed).ok()) MARGAY_ASSERT(allowed.size() == command.processes + 1);
      }
    }
  }
  const std::string answer = spawn_answer(std::vector<int>(order.processes() % kMaxSpawnProcesses, -1), {}, error);
  margay::sim::PmiMessage message;
  MARGAY_ASSERT(answer.find('\n') == std::string::npos && margay::sim::PmiMessage::parse(answer, message).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  std::string_view left(reinterpret_cast<const char*>(data), bytes);
  SpawnReader reader;
  SpawnReader::Step step = reader.take_line("mcmd=spawn");
  while (!left.empty() && step == SpawnReader::Step::more) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(line.size() < left.size() ? line.size() + 1 : line.size());
    step = reader.take_line(line);
  }
  for (std::uint32_t ends = 0; step == SpawnReader::Step::more; ++ends) {
    MARGAY_ASSERT(ends <= kMaxSpawnCommands);
    if (!reader.in_block()) static_cast<void>(reader.take_line("mcmd=spawn"));
    step = reader.take_line("endcmd");
  }
  check(reader);
  return 0;
}
