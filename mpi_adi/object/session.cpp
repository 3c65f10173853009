#include "mpi_adi/object/session.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <utility>

#include "mpi_adi/object/group_ops.hpp"

namespace margay::mpi_adi {

namespace {

// The names: "mpi://" is the standard's prefix, "mpix://" margay's.
constexpr std::array<std::string_view, 3> kSetNames{"mpi://WORLD", "mpi://SELF", "mpix://NODE"};

}  // namespace

std::span<const std::string_view> process_set_names() {
  return kSetNames;
}

std::optional<ProcessSet> find_process_set(std::string_view name) {
  const auto same = [name](std::string_view known) {
    // Names of sets are not case-sensitive.
    return name.size() == known.size() && strncasecmp(name.data(), known.data(), known.size()) == 0;
  };
  const auto found = std::find_if(kSetNames.begin(), kSetNames.end(), same);
  if (found == kSetNames.end()) return std::nullopt;
  return static_cast<ProcessSet>(found - kSetNames.begin());
}

GroupPtr members_of(ProcessSet set, std::span<const std::uint32_t> world, std::span<const std::uint32_t> node_of_rank,
                    std::uint32_t me, std::uint32_t session) {
  std::vector<std::uint32_t> members;
  for (const std::uint32_t rank : world) {
    const bool same_node = node_of_rank[rank] == node_of_rank[me];
    if (set == ProcessSet::world || rank == me || (set == ProcessSet::node && same_node)) members.push_back(rank);
  }
  return make_group(std::move(members), me, session);
}

SessionTable::~SessionTable() {
  for (Session* session : table_.alive()) delete session;
}

Session* SessionTable::add(ErrorHandlerPtr error_handler, Info&& info) {
  auto made = std::make_unique<Session>();
  made->raises.handle = table_.add(*made);
  // If the table is full, the object is deleted here.
  if (made->raises.handle == 0) return nullptr;
  // A call raises errors through a communicator, so the session has one with its handle.
  made->raises.name = "the session";
  made->raises.error_handler = std::move(error_handler);
  made->info = std::move(info);
  made->number = ++last_number_;
  return made.release();
}

void SessionTable::remove(Session& session) {
  table_.remove(session.raises.handle);
  delete &session;
}

}  // namespace margay::mpi_adi
