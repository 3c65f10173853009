// The start and end of processes (4.2): cohorts of empty places, zip_spawn() and zip_kill(). The host's functions for
// places do the work (include/margay/host.hpp). Functions throw Error, and require that the thread is inside.
//
// Each process may start and end others. A process that was started is a node like any other: process 0 admits it
// (registrar.hpp), and it takes part in the end of the session.
#pragma once

#include <string>

#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

// zip_new_cohort(): of processes that began with the job if it has enough; otherwise of empty places.
[[nodiscard]] Group new_cohort(Session& session, int count, int node_bias, int pid, bool with_caller);
// The members of a group that is freed need their places no more, unless they have started.
void give_back(Session& session, const Group& group);
// Starts `program` at the empty places of the group, which get their final ranks, and waits until it has begun. A null
// operation (5.1) if all members run.
void spawn(Session& session, const char* call, const std::string& program, Group& group);
// Ends the members that zip_spawn() has started, the caller excepted. Others began with the job, and are left alone.
void kill(Session& session, const Group& group);
// Fails if a member has no process.
void check_running(Session& session, const Group& group);

}  // namespace margay::zipcode::core
