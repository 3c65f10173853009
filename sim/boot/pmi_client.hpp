// The rank's side of PMI-1.1: newline-terminated key=value lines, one request and one answer at a time, on the
// descriptor PMI_FD. Blocking. The first request connects (init, get_maxes, get_my_kvsname), so a job that exchanges
// nothing pays nothing. Neither finalize() nor a request to end the job connects.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/endpoint.hpp"
#include "sim/boot/pmi_message.hpp"

namespace margay::sim {

using portals::Status;

// The key by which spawned processes find the port of their parents; MPICH's programs use it, too.
inline constexpr const char* kParentPortKey = "PARENT_ROOT_PORT_NAME";

// The info keys of a spawn request that margay's launcher follows. Others are not sent, because MPI requires that
// unknown keys are ignored, whatever their number and values.
inline constexpr std::array<std::string_view, 6> kSpawnInfoKeys = {"wdir", "path", "host",
                                                                   "arch", "soft", "mpi_initial_errhandler"};

// A request for further processes (PMI-1.1 spawn). No text may have a control character.
struct SpawnLines {
  struct Command {
    std::uint32_t processes = 0;
    std::string program;
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> info;
  };
  std::vector<Command> commands;
  // Keys that the new processes find in their key-value store.
  std::vector<std::pair<std::string, std::string>> preput;
};

// The launcher's answer to a spawn request.
struct Spawned {
  // One for each requested process; 0: it runs. Empty: the launcher gave none.
  std::vector<int> codes;
  // The places of the processes that run; empty under other launchers.
  std::vector<std::uint32_t> places;
  // The request failed for lack of places, and may succeed later, because started processes still run.
  bool may_try_again = false;
};

// A rank's connection to its launcher. Owned by one thread. A broken connection is not opened again, so every later
// call fails.
class PmiClient {
 public:
  // Uses the descriptor, and never closes it, because a launcher may monitor the connection.
  PmiClient(int descriptor, std::uint32_t rank, std::uint32_t size)
      : descriptor_(descriptor), rank_(rank), size_(size) {}

  // Connects; no effect when connected.
  Status init();
  // The index of this rank's program; 0 where the launcher does not report it.
  Status appnum(std::uint32_t& out);
  // The number of processes that the launcher could start (MPI_UNIVERSE_SIZE); -1: unknown.
  Status universe_size(int& out);
  // Stores a value of at most max_value() bytes, without white space or newline, for the other ranks. A key may be put
  // once.
  Status put(std::string_view key, std::string_view value);
  // Gets a value that was put before the last barrier. Fails when the key does not exist.
  Status get(std::string_view key, std::string& value, std::string_view kvs = {});
  // As get(), for a key that may not exist. `kvs` as for get_card().
  Status lookup(std::string_view key, std::string& value, bool& found, std::string_view kvs = {});
  // Waits for all ranks of the job.
  Status barrier();

  // A rank's card: a text for the other ranks (addresses). A card longer than max_value() is split over several values.
  // Order: put_card, barrier, get_card. The text must consist of printable characters other than white space.
  // `kvs`: the key-value store of the rank's world; empty: this rank's own.
  Status put_card(std::string_view card);
  Status get_card(std::uint32_t rank, std::string& card, std::string_view kvs = {});

  // Requests further processes, and waits until the launcher has started them. `started` is also filled in on failure.
  Status spawn(const SpawnLines& request, Spawned& started);
  // Ends the processes of these places on purpose, which margay's launcher does not count as failures.
  Status kill(const std::vector<std::uint32_t>& places);

  // The place by which this job addresses a process of another job (command/run/process/guests), and the end of this
  // process's need of it. margay's launcher only.
  Status find_guest(const Endpoint& guest, std::uint32_t& place);
  Status release_guest(std::uint32_t place);

  // MPI's name service (MPI_Publish_name and its kin).
  Status publish(std::string_view service, std::string_view port);
  Status lookup_name(std::string_view service, std::string& port);
  // `port`: the port under which the service must be published; a launcher that does not know the key ignores it.
  Status unpublish(std::string_view service, std::string_view port);

  // Signs off; no effect when never connected.
  Status finalize();
  // Requests the end of the job, without waiting for an answer.
  void abort(int code, std::string_view message);
  // Requests the end of the job from margay's launcher, because this program has found the rank's place taken.
  void refuse_second_program(int code);

  // State, and the launcher's limits.
  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] bool finalized() const { return finalized_; }
  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::size_t max_value() const { return max_value_; }
  [[nodiscard]] const std::string& kvs_name() const { return kvs_name_; }

 private:
  // Sends a request and reads its answer, which must be `expected_command`.
  Status exchange(std::string_view request, std::string_view expected_command, PmiMessage& answer);
  // Both block until the whole line has been sent, or received; they also handle a nonblocking descriptor.
  Status send_line(std::string_view line);
  Status receive_line(std::string& line);
  Status connect_once() { return connected_ ? Status() : init(); }

  // The launcher's; never closed here.
  int descriptor_;
  std::uint32_t rank_;
  std::uint32_t size_;
  // init() has succeeded; finalize() was called.
  bool connected_ = false;
  bool finalized_ = false;
  // The launcher's limits, as get_maxes reports them.
  std::size_t max_value_ = 1024;
  std::size_t max_key_ = 64;
  // The name of the launcher's key-value store, a part of every put and get.
  std::string kvs_name_;
  // Bytes received beyond the last line.
  std::string unread_;
};

}  // namespace margay::sim
