// The operations of a mailer: by messages, or by the methods that are cached in it (paper 000, section 4.4.6).
// Functions throw Error, and require that the thread is inside.
#pragma once

#include "libraries/zipcode/point_to_point.hpp"

namespace margay::zipcode::core {

// Fails for class Y.
void check_has_collectives(const ZIP_MAILER& mailer);
// The functions return an error value of a cached method, or 0.
int do_combine(Session& session, const char* call, ZIP_MAILER& mailer, void* buffer, Method* method, int size,
               int items);
int do_prefix(Session& session, const char* call, ZIP_MAILER& mailer, void* buffer, Method* method, int size,
              int items);
int do_fanin(Session& session, const char* call, ZIP_MAILER& mailer, int dest, void* buffer, Method* method, int size,
             int items);
int do_fanout(Session& session, const char* call, ZIP_MAILER& mailer, void** data, int* length, Method* exec, int orig);
int do_sync(Session& session, const char* call, ZIP_MAILER& mailer);
void do_send(Session& session, ZIP_MAILER& mailer, char* letter, int rank);
[[nodiscard]] char* do_receive(Session& session, const char* call, ZIP_MAILER& mailer, int rank, bool is_blocked);

}  // namespace margay::zipcode::core
