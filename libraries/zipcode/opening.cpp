#include "libraries/zipcode/opening.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "libraries/zipcode/collective.hpp"
#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/opening_text.hpp"
#include "libraries/zipcode/processes.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

namespace {

constexpr std::uint32_t kServer = 0;  // the rank of the Postmaster General

void add_known(Session& session, const ZIP_MAILER& mailer) {
  session.known.insert(&mailer);
  for (const auto& child : mailer.children) add_known(session, *child);
}

void remove_known(Session& session, const ZIP_MAILER& mailer) {
  session.known.erase(&mailer);
  for (const auto& child : mailer.children) remove_known(session, *child);
}

ZIP_MAILER* add_mailer(Session& session, const Opening& opening, Source source) {
  std::unique_ptr<ZIP_MAILER> made = make_mailer(opening, session.me(), source);
  ZIP_MAILER* const mailer = made.get();
  session.mailers.emplace(mailer, std::move(made));
  add_known(session, *mailer);
  ++session.rank.counter(kOpened);
  return mailer;
}

void send_opening(Session& session, std::uint32_t rank, Tag tag, const Opening& opening) {
  const std::vector<std::int32_t> words = encode(opening);
  session.post.send_system(rank, tag, std::as_bytes(std::span(words)));
}

// During its life, this process awaits an answer of process 0, which may be computing, and which the host then wakes.
class AwaitsServer {
 public:
  explicit AwaitsServer(Session& session) : session_(session), is_remote_(session.me() != kServer) {
    if (is_remote_) session_.rank.expect_answer(kServer);
  }
  ~AwaitsServer() {
    if (is_remote_) session_.rank.count_answer(kServer);
  }
  AwaitsServer(const AwaitsServer&) = delete;
  AwaitsServer& operator=(const AwaitsServer&) = delete;

 private:
  Session& session_;
  const bool is_remote_;
};

// Waits for an opening of this Postmaster or, with kAnyRank, of any other process.
Opening await_opening(Session& session, const char* call, Tag tag, std::uint32_t postmaster) {
  Opening opening;
  // The Postmaster General sends for any Postmaster, so the wait is for it.
  const portals::Rank from = session.form.has_postmaster_general ? kServer : postmaster;
  session.post.await_system(call, tag, from, [&](portals::Rank, Bytes body) {
    return decode(body, session.rank.places(), opening) && index_of(opening.group, session.me()) >= 0 &&
           (postmaster == portals::kAnyRank ? opening.postmaster != session.me() : opening.postmaster == postmaster);
  });
  return opening;
}

void check_class(const Opening& opening, int mail_class) {
  if (opening.mail_class == mail_class) return;
  const MailClass* const other = find_class(opening.mail_class);
  fail("the caller opens a mailer of class " + find_class(mail_class)->title + ", but the Postmaster (rank " +
       std::to_string(opening.postmaster) + ") one of class " +
       (other == nullptr ? "number " + std::to_string(opening.mail_class) + ", which this process has not registered"
                         : other->title));
}

// Figure 2 of the paper.
Opening open_by_server(Session& session, const char* call, const Opening& wanted, bool is_postmaster) {
  const AwaitsServer awaits(session);
  if (is_postmaster) {
    send_opening(session, kServer, Tag::open, wanted);
    if (session.rank.recording()) {
      session.rank.record({.number = kTellsGroup,
                           .peer = kServer,
                           .a = static_cast<std::uint32_t>(wanted.group.size()),
                           .of_sent = true});
    }
  }
  Opening opening = await_opening(session, call, Tag::copy, is_postmaster ? session.me() : portals::kAnyRank);
  if (is_postmaster) {
    session.post.send_system(kServer, Tag::token, {});
    if (session.rank.recording()) session.rank.record({.number = kReturnsToken, .peer = kServer, .of_sent = true});
  }
  return opening;
}

// The context_ids that this process or another member uses.
ContextSet used_by_members(Session& session, const char* call, const Group& group) {
  ContextSet used = session.used;
  for (const Member& each : group) {
    if (each.rank == session.me()) continue;
    ContextSet others;
    session.post.await_system(call, Tag::used, each.rank, [&](portals::Rank, Bytes body) {
      if (body.size() != sizeof others.words()) return false;
      std::memcpy(others.words().data(), body.data(), body.size());
      return true;
    });
    used.unite(others);
  }
  return used;
}

// Without a server: the Postmaster asks all members for the context_ids that they use.
Opening open_by_agreement(Session& session, const char* call, const Opening& wanted, bool is_postmaster) {
  if (!is_postmaster) {
    const Opening proposed = await_opening(session, call, Tag::propose, portals::kAnyRank);
    session.post.send_system(proposed.postmaster, Tag::used, std::as_bytes(std::span(session.used.words())));
    return await_opening(session, call, Tag::copy, proposed.postmaster);
  }
  Opening opening = wanted;
  for (const Member& each : opening.group) {
    if (each.rank != session.me()) send_opening(session, each.rank, Tag::propose, opening);
  }
  // The other members wait for the copy, also if the opening fails here.
  const auto send_copies = [&] {
    for (const Member& each : opening.group) {
      if (each.rank != session.me()) send_opening(session, each.rank, Tag::copy, opening);
    }
  };
  try {
    const ContextSet used = used_by_members(session, call, opening.group);
    opening.context = used.find_free(context_ids(find_class(opening.mail_class)->dimensions));
  } catch (const Error&) {
    send_copies();
    throw;
  }
  send_copies();
  return opening;
}

}  // namespace

ZIP_MAILER* open(Session& session, const char* call, int mail_class, const std::array<int, 3>& shape,
                 const Group* group) {
  Opening wanted{.mail_class = mail_class, .shape = shape, .postmaster = session.me()};
  if (group != nullptr) {
    wanted.group = *group;
    check_opening(wanted);
    if (wanted.group.front().rank != session.me()) {
      fail("the caller passes a group whose first process is rank " + std::to_string(wanted.group.front().rank) +
           "; the first one is the Postmaster, and the others pass NULL");
    }
    check_running(session, *group);
  }
  const bool has_server = session.form.has_postmaster_general;
  const Opening opening = has_server ? open_by_server(session, call, wanted, group != nullptr)
                                     : open_by_agreement(session, call, wanted, group != nullptr);
  check_class(opening, mail_class);
  check_opening(opening);
  const std::uint32_t ids = context_ids(find_class(mail_class)->dimensions);
  if (opening.context == 0) {
    fail("the members of the group do not have " + std::to_string(ids) + " successive context_ids left of " +
         std::to_string(kLastContext) + (has_server ? "" : ", or one of them was ended") +
         "; close mailers that are not used");
  }
  if (!has_server) session.used.add(opening.context, ids);
  ZIP_MAILER* const mailer = add_mailer(session, opening, has_server ? Source::postmaster_general : Source::agreement);
  sync(session, call, *mailer, Scope::group);
  if (session.rank.recording()) {
    session.rank.record(
        {.number = kAllHere, .a = opening.context, .b = static_cast<std::uint32_t>(opening.group.size())});
  }
  return mailer;
}

ZIP_MAILER* open_with(Session& session, int mail_class, const std::array<int, 3>& shape, const Group& group,
                      int context_id) {
  Opening opening{.mail_class = mail_class, .shape = shape, .group = group};
  check_opening(opening);
  opening.postmaster = group.front().rank;
  if (index_of(group, session.me()) < 0) fail("the caller is not in the group");
  check_running(session, group);
  const std::uint32_t ids = context_ids(find_class(mail_class)->dimensions);
  const auto first = static_cast<std::uint32_t>(context_id);
  if (context_id < 0 || first < kFirstExplicit || first + ids > kLastExplicit + 1) {
    fail("the mailer would use the context_ids " + std::to_string(context_id) + " to " +
         std::to_string(context_id + static_cast<int>(ids) - 1) + "; those of the program are " +
         std::to_string(kFirstExplicit) + " to " + std::to_string(kLastExplicit));
  }
  for (const auto& [mailer, owned] : session.mailers) {
    const Family& family = *owned->family;
    if (first < family.last && family.first < first + ids) {
      fail("another open mailer uses context_id " + std::to_string(std::max(first, family.first)) +
           "; close it or use another");
    }
  }
  opening.context = first;
  return add_mailer(session, opening, Source::program);
}

namespace {

// Waits until all letters that the members have sent to this one have arrived.
void await_letters(Session& session, const char* call, ZIP_MAILER& mailer) {
  const std::size_t members = mailer.group.size();
  std::vector<std::uint64_t> sent(members);
  Family& family = *mailer.family;
  for (std::size_t i = 0; i < members; ++i) {
    const auto at = family.sent.find(mailer.group[i].rank);
    if (at != family.sent.end()) sent[i] = at->second;
  }
  const auto is_broken = [&] { return session.post.find_ended(mailer.group) != portals::kAnyRank; };
  add_up(session, call, mailer, sent, Scope::group);
  const std::uint64_t expected = sent[static_cast<std::size_t>(mailer.index)];
  const portals::Status status = host::wait_until(session.rank, {.call = shown_name(call)}, [&] {
    session.post.sweep();
    return is_broken() || family.taken + session.post.count(family.first, family.last) >= expected;
  });
  if (!status.ok()) fail(status.sentence());
}

}  // namespace

void close(Session& session, const char* call, ZIP_MAILER& mailer) {
  const auto owned = session.mailers.find(&mailer);
  if (owned == session.mailers.end()) fail("the mailer is a child; close its parent");
  // Also after an error, such as the death of a member, the mailer is closed.
  const std::unique_ptr<ZIP_MAILER> closed = std::move(owned->second);
  session.mailers.erase(owned);
  const Family& family = *closed->family;
  const auto end = [&] {
    session.post.free_all(family.first, family.last);
    remove_known(session, *closed);
    if (family.source == Source::agreement) session.used.remove(family.first, family.last - family.first);
    ++session.rank.counter(kClosed);
  };
  // Where a member was ended, the others do not wait for each other, and the context_ids are not used again.
  const auto is_broken = [&] { return session.post.find_ended(closed->group) != portals::kAnyRank; };
  try {
    await_letters(session, call, *closed);
    session.post.free_all(family.first, family.last);
    // A member that returns may use explicit ids again at once, so all must have freed their letters.
    sync(session, call, *closed, Scope::group);
  } catch (const Error&) {
    if (!is_broken()) {
      end();
      throw;
    }
  }
  end();
  if (is_broken()) return;
  if (family.source != Source::postmaster_general || closed->index != 0) return;
  Opening opening{.mail_class = closed->mail_class, .shape = closed->shape, .postmaster = session.me()};
  opening.context = family.first;
  opening.group = closed->group;
  send_opening(session, kServer, Tag::close, opening);
}

namespace {

// A receive of numbers: accepts a letter of Zipcode itself that has exactly these.
[[nodiscard]] Post::Accepts into(std::span<std::uint64_t> numbers) {
  return [numbers](portals::Rank, Bytes body) {
    if (body.size() != numbers.size_bytes()) return false;
    std::memcpy(numbers.data(), body.data(), body.size());
    return true;
  };
}

// Process 0 takes a letter of each other process of the session, except those that were ended. Their number changes
// meanwhile: a process that has not sent its letter may start further ones, and end others.
void take_all(Session& session, const char* call, Tag tag, const Post::Accepts& take) {
  Post& post = session.post;
  std::set<portals::Rank> seen;
  const auto find_next = [&] {
    const std::set<portals::Rank>& later = session.registrar.later();
    const auto is_missing = [&](portals::Rank each) { return !seen.contains(each) && !post.has_ended(each); };
    for (portals::Rank peer = 1; peer < session.rank.size(); ++peer) {
      if (is_missing(peer)) return peer;
    }
    const auto at = std::ranges::find_if(later, is_missing);
    return at == later.end() ? portals::kAnyRank : *at;
  };
  for (portals::Rank peer = find_next(); peer != portals::kAnyRank; peer = find_next()) {
    seen.insert(peer);
    bool is_taken = false;
    const portals::Status status = host::wait_until(session.rank, {.call = shown_name(call), .peer = peer}, [&] {
      post.sweep();
      is_taken = is_taken || post.take_system(tag, [&](portals::Rank source, Bytes body) {
        return source == peer && take(source, body);
      });
      return is_taken || post.has_ended(peer);
    });
    if (!status.ok() && !is_taken && !post.has_ended(peer)) fail(status.sentence());
  }
}

// The other processes of the session, at process 0.
[[nodiscard]] std::vector<portals::Rank> others(const Session& session) {
  std::vector<portals::Rank> peers(session.registrar.later().begin(), session.registrar.later().end());
  for (portals::Rank peer = 1; peer < session.rank.size(); ++peer) peers.push_back(peer);
  return peers;
}

// The letters that the session has sent to this process, and whether it has had processes of several worlds. Process 0
// adds up the counts of all. Those of a process that zip_kill() has ended are missing.
[[nodiscard]] std::array<std::uint64_t, 2> total_for(Session& session, const char* call) {
  Post& post = session.post;
  std::array<std::uint64_t, 2> total{};
  if (session.me() != kServer) {
    post.send_system(kServer, Tag::counts, std::as_bytes(std::span(post.sent())));
    post.await_system(call, Tag::total, kServer, into(total));
    return total;
  }
  std::vector<std::uint64_t> sums = post.sent();
  std::vector<std::uint64_t> counts(sums.size());
  take_all(session, call, Tag::counts, [&](portals::Rank peer, Bytes body) {
    if (!into(counts)(peer, body)) return false;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
    return true;
  });
  total[1] = session.registrar.has_had_later() ? 1 : 0;
  for (const portals::Rank peer : others(session)) {
    total[0] = sums[peer];
    post.send_system(peer, Tag::total, std::as_bytes(std::span(total)));
  }
  total[0] = sums[kServer];
  return total;
}

void await_idle(Session& session, const char* call, std::uint64_t arrivals) {
  const portals::Status status = host::wait_until(session.rank, {.call = shown_name(call)}, [&] {
    session.post.sweep();
    return session.post.arrived() >= arrivals && session.post.is_idle();
  });
  if (!status.ok()) fail(status.sentence());
}

}  // namespace

// The host's end() has a barrier of the processes that were started together. So where there are others, each one waits
// here until all have their letters.
void settle(Session& session, const char* call) {
  const auto [arrivals, has_worlds] = total_for(session, call);
  await_idle(session, call, arrivals);
  if (has_worlds == 0) return;
  Post& post = session.post;
  if (session.me() != kServer) {
    post.send_system(kServer, Tag::settled, {});
    post.await_system(call, Tag::leave, kServer, into({}));
  } else {
    take_all(session, call, Tag::settled, into({}));
    for (const portals::Rank peer : others(session)) post.send_system(peer, Tag::leave, {});
  }
  await_idle(session, call, arrivals);
}

}  // namespace margay::zipcode::core
