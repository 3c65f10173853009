// The collective operations of a mailer by memory that its members share (paper 000, figures 5 and 6).
#pragma once

#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

// Whether all members are on the caller's node.
[[nodiscard]] bool is_on_one_node(const Session& session, const ZIP_MAILER& mailer);
// Caches the operations in the mailer. Returns false, at all members, where the memory cannot be shared.
[[nodiscard]] bool use_shared_memory(Session& session, const char* call, ZIP_MAILER& mailer);

}  // namespace margay::zipcode::core
