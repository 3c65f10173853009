// Collective operations by messages: letters of class Z with the context_id after the mailer's own (paper 000, 4.4.1:
// "an isomorphic Z-class mailer"), along binomial trees. Functions throw Error, and require that the thread is inside;
// methods run outside.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

// The members, or the group with a Postmaster outside of the grid.
enum class Scope : std::uint8_t { members, group };

void sync(Session& session, const char* call, ZIP_MAILER& mailer, Scope scope);
// Replaces each element by its sum over the group or the members.
void add_up(Session& session, const char* call, ZIP_MAILER& mailer, std::vector<std::uint64_t>& values, Scope scope);

// The operations of zipcode.h. `dest`, `orig`: ranks.
void fanin(Session& session, const char* call, ZIP_MAILER& mailer, int dest, void* buffer, Method* method, int size,
           int items);
void combine(Session& session, const char* call, ZIP_MAILER& mailer, void* buffer, Method* method, int size, int items);
void prefix(Session& session, const char* call, ZIP_MAILER& mailer, void* buffer, Method* method, int size, int items);
// `exec`: a method that runs on the data before they are passed on; nullptr: none.
void fanout(Session& session, const char* call, ZIP_MAILER& mailer, void** data, int* length, Method* exec, int orig);
// Runs a method of kind ZIP_METHOD_EXECUTE.
void execute(Session& session, const Method& method, void* data, int bytes);
// The room for the data of a fan-out at a receiver, as zip_fanout() describes; nullptr, with the reason: there is none.
[[nodiscard]] void* room_for(void** data, int* length, std::size_t bytes, std::string& why);

}  // namespace margay::zipcode::core
