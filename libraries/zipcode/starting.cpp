// Begin and end, groups, processes and the error handler: sections 4.1 and 4.2.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "libraries/zipcode/attributes.hpp"
#include "libraries/zipcode/call.hpp"
#include "libraries/zipcode/opening.hpp"
#include "libraries/zipcode/processes.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

namespace {

thread_local Zip_error_handler* error_handler = nullptr;

// All processes begin by the same form, or none knows where context_ids come from. Process 0 compares them, and sends
// the verdict to all: empty, or the error.
void check_form(Session& session, const char* call) {
  const std::string own = session.begun_by;
  const auto text_of = [](Bytes body) { return std::string(reinterpret_cast<const char*>(body.data()), body.size()); };
  std::string verdict;
  if (session.me() != 0) {
    session.post.send_system(0, Tag::form, std::as_bytes(std::span(own)));
    session.post.await_system(call, Tag::form, 0, [&](portals::Rank, Bytes body) {
      verdict = text_of(body);
      return true;
    });
  } else {
    for (std::uint32_t peer = 1; peer < session.rank.size(); ++peer) {
      session.post.await_system(call, Tag::form, peer, [&](portals::Rank, Bytes body) {
        if (verdict.empty()) verdict = form_error(peer, text_of(body), own);
        return true;
      });
    }
    for (std::uint32_t peer = 1; peer < session.rank.size(); ++peer)
      session.post.send_system(peer, Tag::form, std::as_bytes(std::span(verdict)));
  }
  if (!verdict.empty()) fail(verdict);
}

bool has_token() {
  const char* const value = std::getenv("MARGAY_ZIPCODE_TOKEN");
  if (value == nullptr || std::string(value) == "on") return true;
  if (std::string(value) == "off") return false;
  fail("invalid MARGAY_ZIPCODE_TOKEN=" + std::string(value) + "; use on or off");
}

void start(Session& session, const char* call) {
  if (session.form.has_postmaster_general && session.me() == 0) {
    session.postmaster_general = std::make_unique<PostmasterGeneral>(session.post, has_token());
    session.registrar.pass_on_to(session.postmaster_general.get());
  }
  if (const portals::Status status = session.post.attach(session.registrar); !status.ok()) fail(status.sentence());
  // No process sends before all portals are attached.
  if (const portals::Status status = session.rank.barrier(shown_name(call)); !status.ok()) fail(status.sentence());
  check_form(session, call);
}

int begin(const char* name, Form form, const void* caller = __builtin_return_address(0)) {
  if (here != nullptr) {
    report(std::string(name) + ": Zipcode has begun already; call zip_exit() first");
    return -1;
  }
  host::Rank* joined = nullptr;
  if (const portals::Status status = host::join(kLibrary, joined, false, shown_caller(caller)); !status.ok()) {
    report(std::string(shown_name(name)) + ": " + status.sentence());
    return -1;
  }
  host::Rank& rank = *joined;  // NOLINT(clang-analyzer-core.NullDereference): set by host::join()
  std::string error;
  {
    const host::Call inside(rank, shown_name(name), shown_caller(caller));
    try {
      here = new Session(rank, form, name);
      start(*here, name);
      return 0;
    } catch (const Error& thrown) {
      error = thrown.what();
    } catch (const std::bad_alloc&) {
      error = "out of memory";
    }
  }
  report(std::string(shown_name(name)) + ": " + error);
  {
    const host::Call inside(rank, shown_name(name), shown_caller(caller));
    delete std::exchange(here, nullptr);
  }
  rank.end();
  return -1;
}

ZIP_ADDRESSEES* own(Group group) {
  return new ZIP_ADDRESSEES{std::move(group)};
}

const Group& group_of(const ZIP_ADDRESSEES* addressees) {
  if (addressees == nullptr) fail("the addressee list is NULL");
  return addressees->group;
}

}  // namespace

void report(const std::string& message) {
  if (program_call.name != nullptr) return run_for_program([&] { report(message); });
  if (error_handler != nullptr) return error_handler(message.c_str());
  // The launcher reports one line. A format with its caret has three.
  const std::size_t end = message.find('\n');
  if (here != nullptr && end != std::string::npos) std::fprintf(stderr, "zipcode: %s\n", message.c_str());
  if (here != nullptr) here->rank.abort(1, message.substr(0, end));
  std::fprintf(stderr, "zipcode: %s\n", message.c_str());
  std::exit(1);
}

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

int Zip_init(void) {
  return begin("Zip_init", {.has_host = true, .has_postmaster_general = true});
}

int Zip_global_init(void) {
  return begin("Zip_global_init", {.has_host = true, .has_postmaster_general = false});
}

int Zip_nohost_init(void) {
  return begin("Zip_nohost_init", {.has_host = false, .has_postmaster_general = true});
}

int Zip_nohost_global_init(void) {
  return begin("Zip_nohost_global_init", {.has_host = false, .has_postmaster_general = false});
}

void zip_exit(void) {
  const char* const kCall = "zip_exit";
  call_void(kCall, [&](Session& session) {
    // The functions of the program may close mailers.
    std::vector<ZIP_MAILER*> open;
    for (const auto& [mailer, owned] : session.mailers) open.push_back(mailer);
    for (ZIP_MAILER* const each : open) {
      if (session.known.contains(each)) delete_attributes(session, *each);
    }
    settle(session, kCall);
  });
  if (here == nullptr) return;
  margay::host::Rank& rank = here->rank;
  {
    const margay::host::Call inside(rank, kCall);
    here->letters.clear();
    here->post.free_arrived();
    delete std::exchange(here, nullptr);
  }
  rank.end();
}

Zip_error_handler* zip_set_error_handler(Zip_error_handler* handler) {
  return std::exchange(error_handler, handler);
}

ZIP_ADDRESSEES* zip_new_cohort(int N, int node_bias, int cohort_pid, int pm_flag) {
  return call<ZIP_ADDRESSEES*>("zip_new_cohort", nullptr, [&](Session& session) {
    return own(new_cohort(session, N, node_bias, cohort_pid, pm_flag != 0));
  });
}

ZIP_ADDRESSEES* zip_new_addressees(int count, const Zip_process* processes) {
  return call<ZIP_ADDRESSEES*>("zip_new_addressees", nullptr,
                               [&](Session& session) { return own(make_group(session.nodes(), count, processes)); });
}

ZIP_ADDRESSEES* zip_include(const ZIP_ADDRESSEES* addressees, int count, const int* ranks) {
  return call<ZIP_ADDRESSEES*>("zip_include", nullptr,
                               [&](Session&) { return own(include(group_of(addressees), count, ranks)); });
}

ZIP_ADDRESSEES* zip_exclude(const ZIP_ADDRESSEES* addressees, int count, const int* ranks) {
  return call<ZIP_ADDRESSEES*>("zip_exclude", nullptr,
                               [&](Session&) { return own(exclude(group_of(addressees), count, ranks)); });
}

ZIP_ADDRESSEES* zip_union(const ZIP_ADDRESSEES* first, const ZIP_ADDRESSEES* second) {
  return call<ZIP_ADDRESSEES*>("zip_union", nullptr,
                               [&](Session&) { return own(unite(group_of(first), group_of(second))); });
}

int zip_addressees_size(const ZIP_ADDRESSEES* addressees) {
  return call("zip_addressees_size", -1, [&](Session&) { return static_cast<int>(group_of(addressees).size()); });
}

Zip_process zip_addressee(const ZIP_ADDRESSEES* addressees, int rank) {
  return call("zip_addressee", Zip_process{ZIP_ANY, ZIP_ANY}, [&](Session& session) {
    const Group one = include(group_of(addressees), 1, &rank);
    return Zip_process{session.nodes().node_of(one.front().rank), one.front().pid};
  });
}

int zip_addressee_rank(const ZIP_ADDRESSEES* addressees, int node, int pid) {
  return call("zip_addressee_rank", -1, [&](Session& session) {
    const Group& group = group_of(addressees);
    const auto at = std::ranges::find_if(
        group, [&](const Member& each) { return session.nodes().node_of(each.rank) == node && each.pid == pid; });
    return at == group.end() ? -1 : static_cast<int>(at - group.begin());
  });
}

void zip_free_addressees(ZIP_ADDRESSEES** addressees) {
  if (addressees == nullptr) return;
  if (here != nullptr && *addressees != nullptr) give_back(*here, (*addressees)->group);
  delete std::exchange(*addressees, nullptr);
}

int zip_my_node(void) {
  return call("zip_my_node", -1, [](Session& session) { return session.nodes().node_of(session.me()); });
}

int zip_nodes(void) {
  return call("zip_nodes", -1, [](Session& session) { return session.nodes().count(); });
}

int zip_spawn(const char* prog_name, ZIP_ADDRESSEES* addressees) {
  return call_int("zip_spawn", [&](Session& session) {
    if (prog_name == nullptr || *prog_name == '\0') fail("the program's name is empty");
    static_cast<void>(group_of(addressees));
    spawn(session, "zip_spawn", prog_name, addressees->group);
  });
}

int zip_kill(ZIP_ADDRESSEES* addressees) {
  return call_int("zip_kill", [&](Session& session) { kill(session, group_of(addressees)); });
}
