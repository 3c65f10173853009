// A libFuzzer target for network.json: any text is a file whose numbers are in range, or an error. Corpus:
// tests/fuzz/network_corpus.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "virtual_machine/model/network_file.hpp"

namespace {

using namespace margay::virtual_machine;

void require(bool good) {
  if (!good) std::abort();
}

// What the page's script relies on.
void check_ranges(const NetworkFile& file) {
  for (const NetworkFile::Channel& channel : file.channels) {
    require(channel.network < file.networks.size());
    const std::uint32_t switches = file.networks[channel.network].switches;
    require(channel.from < (channel.kind == ChannelKind::injection ? file.nodes : switches));
    require(channel.to < (channel.kind == ChannelKind::ejection ? file.nodes : switches));
  }
  for (const NetworkFile::Load& load : file.loads)
    require(load.channel < file.channels.size() && load.bucket.number < LinkLoads::kBuckets);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  NetworkFile file;
  if (!parse_network_file(std::string_view(reinterpret_cast<const char*>(data), bytes), file).ok()) return 0;
  check_ranges(file);
  const std::string text = format_network_file(file);
  NetworkFile again;
  require(parse_network_file(text, again).ok() && format_network_file(again) == text);
  return 0;
}
