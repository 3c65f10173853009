// Uses of the host that must fail: each prints the message of its failure, or ends the process with one.
#include <margay/host.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

using namespace margay;

namespace {

constexpr std::array<host::NamedPortal, 1> kFree{{{53, "a free portal"}}};
constexpr std::array<host::NamedPortal, 1> kOther{{{54, "another one"}}};
constexpr std::array<host::NamedPortal, 1> kOfMpi{{{0, "MPI's receives"}}};
constexpr std::array<host::NamedPortal, 1> kOfRmi{{{48, "requests of rmi"}}};
constexpr std::array<const char*, 13> kTooManyCounters{};

// Whether the join fails; a success is undone.
bool fails(const host::Library& library) {
  host::Rank* rank = nullptr;
  const portals::Status status = host::join(library, rank);
  std::printf("%s: %s\n", library.name, status.ok() ? "joined" : status.sentence().c_str());
  if (rank != nullptr) rank->end();
  return !status.ok();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "join") {
    bool all = fails({"mpis", kOfMpi, {}, {}}) && fails({"another", kOfRmi, {}, {}}) &&
               fails({"a_name_that_is_too_long", kFree, {}, {}}) && fails({"counters", kFree, kTooManyCounters, {}});
    host::Rank* first = nullptr;
    all = all && host::join({"first", kFree, {}, {}}, first).ok();
    all = all && fails({"first", kOther, {}, {}}) && fails({"second", kFree, {}, {}}) &&
          !fails({"third", kOther, {}, {}});
    first->end();
    // After the end of the last library the rank is dormant; a new one resumes it.
    all = all && !fails({"again", kFree, {}, {}});
    return all ? 0 : 1;
  }
  if (mode == "foreign") {
    host::Rank* rank = nullptr;
    const portals::Status status = host::join({"foreign", kFree, {}, {}}, rank);
    std::printf("%s\n", status.sentence().c_str());
    return status.ok() ? 1 : 0;
  }
  host::Rank* rank = nullptr;
  if (!host::join({"misuse", kFree, {}, {}}, rank).ok()) return 1;
  if (mode == "no_end") return 0;
  if (mode == "abort") rank->abort(5, "the test ends the job");
  const host::Call call(*rank, "misuse");
  if (mode == "lost") {
    if (rank->rank() == 1) raise(SIGKILL);
    const portals::Status status = host::wait_until(*rank, {.call = "misuse", .peer = 1}, [] { return false; });
    return status.ok() ? 0 : 1;
  }
  if (mode == "counter") rank->counter(0) = 1;
  if (mode == "hold") rank->hold_when_no_room(54);
  return 1;
}
