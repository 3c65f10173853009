// Sessions (MPI 4.0, chapter 11.3), and the sets of processes that they offer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/handle_table.hpp"
#include "mpi_adi/object/info.hpp"

namespace margay::mpi_adi {

// A session, as data. Groups refer to their session by its number (Group::session), and communicators through their
// groups.
struct Session {
  std::uint32_t number = 0;  // from 1, never used again
  Info info;                 // for MPI_Session_get_info
  // The session's handle, name and error handler, in the form that a call needs to raise an error.
  // It is not a communicator of the program: it has no group and no contexts.
  Communicator raises;
};

// The sets of processes, in the order of MPI_Session_get_nth_pset (MPI 4.0, 11.3): all processes of its
// world, this process alone, and the processes of its world on this node.
enum class ProcessSet : std::uint8_t { world, self, node };
// Their names, such as "mpi://WORLD".
[[nodiscard]] std::span<const std::string_view> process_set_names();
// The set with this name, in upper or lower case. nullopt: there is none.
[[nodiscard]] std::optional<ProcessSet> find_process_set(std::string_view name);
// A set's members as a group. `world`: the processes of this one's world, this one among them. `node_of_rank`: the node
// of each process of the job.
[[nodiscard]] GroupPtr members_of(ProcessSet set, std::span<const std::uint32_t> world,
                                  std::span<const std::uint32_t> node_of_rank, std::uint32_t me, std::uint32_t session);

// The table of one process's sessions, which it owns. Under the process lock.
class SessionTable {
 public:
  SessionTable() = default;
  ~SessionTable();
  SessionTable(const SessionTable&) = delete;
  SessionTable& operator=(const SessionTable&) = delete;

  // Makes a session; nullptr: the table is full (2^18 sessions alive).
  [[nodiscard]] Session* add(ErrorHandlerPtr error_handler, Info&& info);
  // The session of a handle, or nullptr.
  [[nodiscard]] Session* find(MPI_Session handle) const { return table_.find(handle); }
  // Deletes a session; its groups and communicators keep its number.
  void remove(Session& session);
  // The sessions that the program has not finalized.
  [[nodiscard]] std::vector<Session*> living() const { return table_.alive(); }

 private:
  // The objects that the handles name; this class deletes them.
  HandleTable<Session> table_{ObjectType::session};
  // 0 is the world model's number.
  std::uint32_t last_number_ = 0;
};

}  // namespace margay::mpi_adi
