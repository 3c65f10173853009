// Opening and closing mailers. Functions throw Error, and require that the thread is inside.
#pragma once

#include <array>

#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

// Opens a mailer with the other members. `group`: the Postmaster's; nullptr: the caller is not the Postmaster.
[[nodiscard]] ZIP_MAILER* open(Session& session, const char* call, int mail_class, const std::array<int, 3>& shape,
                               const Group* group);
// Opens a mailer with explicit context_ids, without a message.
[[nodiscard]] ZIP_MAILER* open_with(Session& session, int mail_class, const std::array<int, 3>& shape,
                                    const Group& group, int context_id);
// Closes it with the other members. The program's functions for attributes were called before.
void close(Session& session, const char* call, ZIP_MAILER& mailer);
// Waits until every letter of the job has arrived, so that portals may be detached. Collective over the job.
void settle(Session& session, const char* call);

}  // namespace margay::zipcode::core
