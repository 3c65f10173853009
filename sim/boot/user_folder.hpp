// The user's runtime folder for margay: data that all jobs of a user on this machine share, and that other users must
// not access, such as the key of connections between jobs and the names that jobs publish.
#pragma once

#include <string>

#include "portals/base/status.hpp"
#include "sim/base/private_file.hpp"

namespace margay::sim {

// The folder's path: $MARGAY_USER_FOLDER, which must be absolute; otherwise "margay" in $XDG_RUNTIME_DIR if that is an
// existing folder of this user; otherwise /tmp/margay-UID. An empty variable counts as not set. Fails for a relative
// path.
[[nodiscard]] portals::Status user_folder_path(std::string& path);

// Opens the folder; makes it at its first use. Refuses a folder that other users can access (open_private_folder()).
[[nodiscard]] portals::Status open_user_folder(PrivateFolder& out);

}  // namespace margay::sim
