// What the functions that exist for each class have in common: the call with its mailer, and the processes and letters
// that it names in the way of the class.
#pragma once

#include "libraries/zipcode/call.hpp"
#include "libraries/zipcode/operations.hpp"

namespace margay::zipcode::core {

// The class of a call for any mailer.
inline constexpr int kAnyClass = 0;

[[nodiscard]] inline ZIP_MAILER& open_mailer(const Session& session, ZIP_MAILER* mailer, int mail_class) {
  return mail_class == kAnyClass ? session.open_mailer(mailer) : session.open_mailer(mailer, mail_class);
}

// call(), with `body(session, mailer)` for an open mailer of the class.
template <typename Result, typename Body>
Result class_call(const char* name, Result failure, ZIP_MAILER* mailer, int mail_class, Body body, const void* caller) {
  return call(
      name, failure, [&](Session& session) { return body(session, open_mailer(session, mailer, mail_class)); }, caller);
}

// A process by its name: a function of the session and the mailer that returns its rank.
inline auto by_rank(int rank) {
  return [rank](const Session&, const ZIP_MAILER&) { return rank; };
}
inline auto by_place(int p, int q = 0, int r = 0) {
  return [=](const Session&, const ZIP_MAILER& mailer) { return rank_at(mailer, p, q, r); };
}
inline auto by_process(int node, int pid) {
  return [=](const Session& session, const ZIP_MAILER& mailer) { return rank_of(session, mailer, node, pid); };
}

// A destination in the classes without ranks: a function of the session and the mailer.
inline auto destination_by_tag(int node, int pid, int tag) {
  return [=](const Session& session, const ZIP_MAILER& mailer) { return to_tag(session, mailer, node, pid, tag); };
}
inline auto destination_by_process(int node, int pid, long tag) {
  return [=](const Session& session, const ZIP_MAILER& mailer) { return to_process(session, mailer, node, pid, tag); };
}

// A receive: a function of the session, the name of the call, and the mailer, that returns the letter, or nullptr. From
// the process that `find` returns, which may be the work of a cached method; or of letters that `select(session,
// mailer, selection)` describes.
template <typename Find>
auto letter_from(Find find, bool is_blocked) {
  return [=](Session& session, const char* name, ZIP_MAILER& mailer) {
    return do_receive(session, name, mailer, find(session, mailer), is_blocked);
  };
}
template <typename Select>
auto selected_letter(Select select, bool is_blocked) {
  return [=](Session& session, const char* name, ZIP_MAILER& mailer) {
    Selection selection;
    select(session, mailer, selection);
    return receive(session, name, mailer, selection, is_blocked);
  };
}
inline auto tagged_letter(int tag, bool is_blocked) {
  return selected_letter([tag](Session&, const ZIP_MAILER& mailer, Selection& out) { from_tag(mailer, tag, out); },
                         is_blocked);
}
inline auto letter_from_process(int node, int pid, long tag, bool is_blocked) {
  return selected_letter([=](Session& session, const ZIP_MAILER& mailer,
                             Selection& out) { from_process(session, mailer, node, pid, tag, out); },
                         is_blocked);
}

}  // namespace margay::zipcode::core
