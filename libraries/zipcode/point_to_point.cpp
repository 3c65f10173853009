#include "libraries/zipcode/point_to_point.hpp"

#include <limits>
#include <string>
#include <utility>

#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

namespace {

constexpr std::uint32_t kAllBits = 0xffff'ffff;

[[nodiscard]] std::string text_of(const ZIP_MAILER& mailer, const std::array<int, 3>& values) {
  std::string text;
  for (int i = 0; i < mailer.traits->dimensions; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(values[static_cast<std::size_t>(i)]);
  return "(" + text + ")";
}

// The PO Box that names a member of a class with ranks or coordinates.
Box box_of_rank(const ZIP_MAILER& mailer, int rank) {
  Box box;
  if (mailer.traits->dimensions == 0) return box.add(static_cast<std::int32_t>(rank));
  const std::array<int, 3> place = mailer.place_of(rank);
  for (int i = 0; i < mailer.traits->dimensions; ++i)
    box.add(static_cast<std::int32_t>(place[static_cast<std::size_t>(i)]));
  return box;
}

void check_tag(long tag, long least, long most) {
  if (tag < least || tag > most || tag == ZIP_ANY) {
    fail("invalid tag " + std::to_string(tag) + "; use " + std::to_string(least) + " to " + std::to_string(most) +
         (least < 0 ? ", except ZIP_ANY" : ""));
  }
}

constexpr long kTagLeast = std::numeric_limits<std::int32_t>::min(),
               kTagMost = std::numeric_limits<std::int32_t>::max();
constexpr long kShortTagMost = std::numeric_limits<std::int16_t>::max();

void select(const ZIP_MAILER& mailer, Selection& out) {
  out.wanted.context = mailer.context;
  out.wanted.mail_class = static_cast<std::uint16_t>(mailer.mail_class);
  out.wanted.box_bytes = mailer.traits->box_bytes;
  out.wanted.box = out.box.view();
  out.wanted.bits = match_bits_of(*mailer.traits, out.box.view());
}

// Calls a function of the program's class.
int resolve(Session& session, const ZIP_MAILER& mailer, Zip_resolve* function, const int* name, Box& box) {
  if (mailer.traits->names == 0)
    fail("the mailer is of class " + mailer.traits->title + ", which has functions of its own");
  if (name == nullptr) fail("the name is NULL");
  box.size = mailer.traits->box_bytes;
  int rank = -1;
  run_outside(session.rank,
              [&] { rank = function(mailer.rank(), mailer.size(), name, box.bytes.data(), mailer.traits->extra); });
  if (rank >= 0 && rank < mailer.size()) return rank;
  std::string text;
  for (int i = 0; i < mailer.traits->names; ++i) text += (i == 0 ? "" : ", ") + std::to_string(name[i]);
  fail("class " + mailer.traits->title + " has no process with the name (" + text + ") here; its function returned " +
       std::to_string(rank) + ", and ranks are 0 to " + std::to_string(mailer.size() - 1));
}

}  // namespace

Letter new_letter(Session& session, const ZIP_MAILER& mailer, int length) {
  if (length < 0) fail("a letter of " + std::to_string(length) + " bytes; the length must not be negative");
  return session.post.make(mailer.context, static_cast<std::uint16_t>(mailer.mail_class), mailer.traits->box_bytes,
                           static_cast<std::size_t>(length));
}

int rank_at(const ZIP_MAILER& mailer, int p, int q, int r) {
  const std::array<int, 3> place{p, q, r};
  const int dimensions = mailer.traits->dimensions;
  bool is_postmaster = true, is_in = true;
  int rank = 0;
  for (int i = 0; i < dimensions; ++i) {
    const auto at = static_cast<std::size_t>(i);
    is_postmaster = is_postmaster && place[at] == ZIP_POSTMASTER;
    is_in = is_in && place[at] >= 0 && place[at] < mailer.shape[at];
    rank = rank * mailer.shape[at] + place[at];
  }
  if (is_postmaster) return check_rank(mailer, ZIP_POSTMASTER);
  if (!is_in) fail("the grid of shape " + text_of(mailer, mailer.shape) + " has no process " + text_of(mailer, place));
  return rank;
}

int check_rank(const ZIP_MAILER& mailer, int rank) {
  if (rank != ZIP_POSTMASTER) return check_member(mailer, rank);
  if (!mailer.is_postmaster_outside) {
    fail(
        "the mailer has no Postmaster outside of its members (ZIP_POSTMASTER); a grid has one if its group has one "
        "process more than the grid");
  }
  return rank;
}

int check_member(const ZIP_MAILER& mailer, int rank) {
  if (rank < 0 || rank >= mailer.size()) {
    fail("the mailer has no rank " + std::to_string(rank) + "; its ranks are 0 to " +
         std::to_string(mailer.size() - 1));
  }
  return rank;
}

int rank_of(const Session& session, const ZIP_MAILER& mailer, int node, int pid) {
  const std::optional<std::uint32_t> rank = session.nodes().rank_of(node);
  const int at = rank.has_value() ? index_of(mailer.group, *rank) : -1;
  if (at < 0 || mailer.group[static_cast<std::size_t>(at)].pid != pid) {
    fail("the mailer has no process {" + std::to_string(node) + ", " + std::to_string(pid) +
         "}; zip_addressee() returns its processes");
  }
  return at - (mailer.is_postmaster_outside ? 1 : 0);
}

Destination to_rank(const ZIP_MAILER& mailer, int rank) {
  Destination to{.index = mailer.index_of(check_rank(mailer, rank)), .box = box_of_rank(mailer, mailer.rank())};
  to.bits = match_bits_of(*mailer.traits, to.box.view());
  return to;
}

Destination to_tag(const Session& session, const ZIP_MAILER& mailer, int node, int pid, int tag) {
  check_tag(tag, 0, kShortTagMost);
  Destination to{.index = mailer.index_of(rank_of(session, mailer, node, pid))};
  to.box.add(static_cast<std::uint16_t>(tag));
  to.bits = match_bits_of(*mailer.traits, to.box.view());
  return to;
}

Destination to_process(const Session& session, const ZIP_MAILER& mailer, int node, int pid, long tag) {
  check_tag(tag, kTagLeast, kTagMost);
  Destination to{.index = mailer.index_of(rank_of(session, mailer, node, pid))};
  const Member& me = mailer.group[static_cast<std::size_t>(mailer.index)];
  const auto value = static_cast<std::int32_t>(tag);
  to.box.add(static_cast<std::int32_t>(session.nodes().node_of(me.rank))).add(me.pid).add(value);
  to.bits = static_cast<std::uint32_t>(value);
  return to;
}

Destination to_name(Session& session, const ZIP_MAILER& mailer, const int* name) {
  Destination to;
  to.index = mailer.index_of(resolve(session, mailer, mailer.traits->send, name, to.box));
  to.bits = match_bits_of(*mailer.traits, to.box.view());
  return to;
}

void from_rank(const ZIP_MAILER& mailer, int rank, Selection& out) {
  out.box = box_of_rank(mailer, check_rank(mailer, rank));
  select(mailer, out);
  out.wanted.source = mailer.group[mailer.index_of(rank)].rank;
}

void from_tag(const ZIP_MAILER& mailer, int tag, Selection& out) {
  if (tag != ZIP_ANY) check_tag(tag, 0, kShortTagMost);
  out.box.add(static_cast<std::uint16_t>(tag));
  select(mailer, out);
  if (tag != ZIP_ANY) return;
  out.wanted.is_any_box = true;
  out.wanted.ignore_bits = kAllBits;
}

// The match bits are the tag, and the source is the process, so the PO Box needs no comparison.
void from_process(const Session& session, const ZIP_MAILER& mailer, int node, int pid, long tag, Selection& out) {
  select(mailer, out);
  out.wanted.is_any_box = true;
  if (tag == ZIP_ANY) {
    out.wanted.ignore_bits = kAllBits;
  } else {
    check_tag(tag, kTagLeast, kTagMost);
    out.wanted.bits = static_cast<std::uint32_t>(tag);
  }
  if (node == ZIP_ANY && pid == ZIP_ANY) return;
  out.wanted.source = mailer.group[mailer.index_of(rank_of(session, mailer, node, pid))].rank;
}

void from_name(Session& session, const ZIP_MAILER& mailer, const int* name, Selection& out) {
  const int rank = resolve(session, mailer, mailer.traits->receive, name, out.box);
  select(mailer, out);
  out.wanted.source = mailer.group[mailer.index_of(rank)].rank;
}

void send(Session& session, ZIP_MAILER& mailer, Letter letter, const Destination& destination) {
  const std::uint32_t rank = mailer.group[destination.index].rank;
  ++mailer.family->sent[rank];
  session.post.send(std::move(letter), {rank, destination.box.view(), destination.bits});
  // A program may send in a loop, and its letters then leave only if it makes progress.
  if (session.post.is_behind()) static_cast<void>(session.rank.progress());
}

char* receive(Session& session, const char* call, ZIP_MAILER& mailer, const Selection& selection, bool is_blocked) {
  std::optional<Letter> letter;
  if (is_blocked) {
    letter = session.post.await(call, selection.wanted, mailer.group);
  } else {
    letter = session.post.take(selection.wanted);
    if (!letter.has_value()) {
      // A program may ask in a loop, so each call makes progress.
      static_cast<void>(session.rank.progress());
      session.post.sweep();
      letter = session.post.take(selection.wanted);
    }
  }
  if (!letter.has_value()) return nullptr;
  ++mailer.family->taken;
  return session.hand_out(std::move(*letter));
}

}  // namespace margay::zipcode::core
