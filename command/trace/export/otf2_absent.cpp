// Replaces otf2.cpp in builds without OTF2's headers (command/trace/export/CMakeLists.txt).
#include "command/trace/export/exports.hpp"

namespace margay::command {

portals::Status write_otf2(const ExportSource& /*source*/, const std::vector<MessageStory>& /*stories*/,
                           const std::string& /*folder*/) {
  return portals::Status::error(
      "trace: this margay was built without OTF2's headers (Debian: libopen-trace-format2-dev); install them and build "
      "it again, or choose another --format");
}

}  // namespace margay::command
