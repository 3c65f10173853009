// The user's key: the secret by which processes of different jobs recognize that they belong to the same user.
#pragma once

#include <array>
#include <cstddef>

#include "portals/base/status.hpp"

namespace margay::sim {

inline constexpr std::size_t kUserKeyBytes = 32;

// Reads the key from the file $MARGAY_KEY_FILE, an absolute path; otherwise from "key" in the user's runtime folder
// (user_folder). Makes the file, of random bytes and with mode 0600, at its first use; processes that do so at once get
// the same key. Refuses a file that is not regular, has another owner or another length, or that the group or others
// can access; `key` is then unchanged. No message contains the key.
[[nodiscard]] portals::Status user_key(std::array<std::byte, kUserKeyBytes>& key);

}  // namespace margay::sim
