// OTF2, the Open Trace Format 2 of Score-P, Vampir, Scalasca and Cube: an archive of files, by its own library.
#pragma once

#include <string>
#include <vector>

#include "command/trace/export/timeline.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// FOLDER/traces.otf2 and what belongs to it. A location is a thread of a rank; calls and waits are regions, the
// messages of MPI's receives are sends and receives between ranks of the world. Times are nanoseconds since the first
// event. OTF2's library is loaded here, so that the command does without it otherwise. Requires: the folder is there.
// Errors: there is no such library, or this margay was built without its headers; what the library tells.
[[nodiscard]] portals::Status write_otf2(const ExportSource& source, const std::vector<MessageStory>& stories,
                                         const std::string& folder);

}  // namespace margay::command
