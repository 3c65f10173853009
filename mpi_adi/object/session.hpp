// Sessions (MPI 4.0, chapter 11.3): the sets of processes that they know, and what a program gets of them.
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

// Passive. Groups, and by them communicators, name the session that they came from by its number (Group::session).
struct Session {
  std::uint32_t number = 0;  // from 1, never used again
  Info info;                 // what MPI_Session_get_info tells
  // The session's handle, name and error handler, in the form in which a call raises errors.
  Communicator raises;
};

// Sets of processes by name, in the order of MPI_Session_get_nth_pset.
enum class ProcessSet : std::uint8_t { world, self, node };
[[nodiscard]] std::span<const std::string_view> process_set_names();
// Upper and lower case are the same. nullopt: no such set.
[[nodiscard]] std::optional<ProcessSet> find_process_set(std::string_view name);
// Its members. `node_of_rank`: of all processes of the job.
[[nodiscard]] GroupPtr members_of(ProcessSet set, std::span<const std::uint32_t> node_of_rank, std::uint32_t me,
                                  std::uint32_t session);

// One process's sessions. Under the process lock.
class SessionTable {
 public:
  SessionTable() = default;
  ~SessionTable();
  SessionTable(const SessionTable&) = delete;
  SessionTable& operator=(const SessionTable&) = delete;

  // nullptr: the table is full (2^18 sessions alive).
  [[nodiscard]] Session* add(ErrorHandlerPtr error_handler, Info&& info);
  // nullptr: no such living session.
  [[nodiscard]] Session* find(MPI_Session handle) const { return table_.find(handle); }
  void remove(Session& session);
  [[nodiscard]] std::vector<Session*> living() const { return table_.alive(); }

 private:
  HandleTable<Session> table_{ObjectType::session};
  std::uint32_t last_number_ = 0;
};

}  // namespace margay::mpi_adi
