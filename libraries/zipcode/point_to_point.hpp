// Letters of mailers: names of processes of each class, sends and receives. Functions throw Error, and require that the
// thread is inside.
#pragma once

#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

// Makes a letter with room for `length` bytes. Throws Error for a negative length.
[[nodiscard]] Letter new_letter(Session& session, const ZIP_MAILER& mailer, int length);

// --- Names. ---

// The rank of a process of a grid, or ZIP_POSTMASTER.
[[nodiscard]] int rank_at(const ZIP_MAILER& mailer, int p, int q = 0, int r = 0);
// Checks a rank, which may be ZIP_POSTMASTER if the Postmaster is outside of the grid.
[[nodiscard]] int check_rank(const ZIP_MAILER& mailer, int rank);
// The same for a member.
[[nodiscard]] int check_member(const ZIP_MAILER& mailer, int rank);
// The rank of a process of the group by its name.
[[nodiscard]] int rank_of(const Session& session, const ZIP_MAILER& mailer, int node, int pid);

// The destination of a letter: an index in the group, the sender's PO Box there, and the match bits.
struct Destination {
  std::size_t index = 0;
  Box box{};
  std::uint32_t bits = 0;
};
// Classes Z, G1, G2, G3; Y; L; and of the program, whose function runs outside.
[[nodiscard]] Destination to_rank(const ZIP_MAILER& mailer, int rank);
[[nodiscard]] Destination to_tag(const Session& session, const ZIP_MAILER& mailer, int node, int pid, int tag);
[[nodiscard]] Destination to_process(const Session& session, const ZIP_MAILER& mailer, int node, int pid, long tag);
[[nodiscard]] Destination to_name(Session& session, const ZIP_MAILER& mailer, const int* name);

// The criteria of a receive. The PO Box is the one in `box`, which outlives them.
struct Selection {
  Box box;
  Wanted wanted;
};
void from_rank(const ZIP_MAILER& mailer, int rank, Selection& out);
void from_tag(const ZIP_MAILER& mailer, int tag, Selection& out);
void from_process(const Session& session, const ZIP_MAILER& mailer, int node, int pid, long tag, Selection& out);
void from_name(Session& session, const ZIP_MAILER& mailer, const int* name, Selection& out);

// --- Traffic. ---

void send(Session& session, ZIP_MAILER& mailer, Letter letter, const Destination& destination);
// The body of the letter; nullptr: there is none yet, and `is_blocked` is false.
[[nodiscard]] char* receive(Session& session, const char* call, ZIP_MAILER& mailer, const Selection& selection,
                            bool is_blocked);

}  // namespace margay::zipcode::core
