// The part of one communication library in a rank: the implementation of host::Rank on the rank's device. Each function
// requires the process lock, unless include/margay/host.hpp states otherwise.
//
// Errors: a mistake of the library, such as a send to a portal that it has not named, ends the process with a message
// (portals::require). A state of the job, such as a lost rank or a portal in use, is a Status with a sentence for the
// user.
//
// What a library shares with MPI on the rank: the kernel, its wires and portals, the progress rounds, the waits and the
// trace. It has its own portals, counters on the job board, and a communicator for its barriers, which the end of a
// session or of MPI does not end.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/select/call_task.hpp"
#include "margay/host.hpp"
#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "sim/boot/board.hpp"

namespace margay::libraries {

// "NAME: STEP", for reports of a library's own steps. Traces keep names, so each is kept until the process ends.
[[nodiscard]] const char* lasting_name(const char* library, const char* step);

// A library's observer in the form that the device has. The library owns the observer, and the part this listener.
class ObserverListener final : public mpi_adi::Listener {
 public:
  explicit ObserverListener(host::Observer& observer) : observer_(observer) {}
  void notify() override { observer_.notify(); }

 private:
  host::Observer& observer_;
};

// The key by which a process that a library has started finds the library's name.
inline constexpr const char* kStarterKey = "MARGAY_LIBRARY";

// One library in one rank. Made by Libraries::join(), which holds the machine for it; deleted by end().
class Part final : public host::Rank {
 public:
  // The last step of end(), outside the rank: deletes the part, and gives up its hold on the rank.
  using Release = void (*)(Part& part);
  // Defines the library's portals and events in the trace, and its counters on the job board, in the place `slot`.
  // Requires: inside. `library` refers to constants of the program.
  Part(mpi_adi::MpiRank& rank, const host::Library& library, std::size_t slot, Release release);
  ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // Makes the communicator of the library's barriers. Collective over the ranks of the job. Inside. Fails if a rank is
  // lost, and if all handles or contexts are taken; join() then deletes the part.
  [[nodiscard]] portals::Status open();

  // The functions of host::Rank. include/margay/host.hpp has their contracts.
  void end() override;
  [[nodiscard]] portals::Rank rank() const override;
  [[nodiscard]] std::uint32_t size() const override;
  [[nodiscard]] std::uint32_t places() const override;
  [[nodiscard]] bool has_process(portals::Rank place) const override;
  [[nodiscard]] bool has_left(portals::Rank place) const override;
  [[nodiscard]] portals::Status start_processes(const std::string& program, std::uint32_t count,
                                                std::vector<portals::Rank>& places) override;
  [[nodiscard]] portals::Status end_processes(const std::vector<portals::Rank>& places) override;
  void note_end(portals::Rank place) override;
  [[nodiscard]] bool on_node(portals::Rank peer) const override;
  [[nodiscard]] std::span<const std::byte, 32> secret() const override;
  void enter(const char* name, const void* caller) override;
  void leave(const char* name) override;
  void begin_thread() override;
  void lock() override;
  void unlock() override;
  [[nodiscard]] portals::Status attach(portals::PortalIndex portal, portals::MatchList& list) override;
  [[nodiscard]] portals::Status attach(portals::PortalIndex portal, portals::Descriptor& memory,
                                       const portals::Options& options) override;
  void detach(portals::PortalIndex portal) override;
  void name_entry(portals::PortalIndex portal, const portals::MatchEntry& entry, const char* name) override;
  void hold_when_no_room(portals::PortalIndex portal) override;
  [[nodiscard]] bool try_send(const portals::Header& header, const portals::Region& body) override;
  void send(host::Outgoing& message) override;
  [[nodiscard]] bool try_send_by(host::Way way, const portals::Header& header, const portals::Region& body) override;
  [[nodiscard]] std::vector<host::WayRow> ways(portals::Rank peer) const override;
  [[nodiscard]] host::WayRow find_way(portals::Rank peer, const char* wire) const override;
  [[nodiscard]] bool way_lost(portals::Rank peer, host::Way way) const override;
  [[nodiscard]] std::string way_loss(portals::Rank peer, host::Way way) const override;
  [[nodiscard]] portals::Status move(portals::Rank peer, host::Way from, host::Way to) override;
  [[nodiscard]] host::SendState state(const host::Outgoing& message) const override;
  void expect_answer(portals::Rank peer) override;
  void count_answer(portals::Rank peer) override;
  void observe(portals::Descriptor& descriptor, host::Observer* observer) override;
  void observe_rounds(host::Observer& observer, bool on) override;
  void observe_losses(host::Observer& observer, bool on) override;
  void wake(portals::Rank peer) override;
  bool progress() override;
  [[nodiscard]] portals::Status wait(const host::Wait& wait, bool (*done)(void*), void* argument) override;
  [[nodiscard]] portals::Status barrier(const char* call) override;
  void begin_barrier() override;
  [[nodiscard]] bool in_barrier() override;
  [[nodiscard]] portals::Status end_barrier(const char* call) override;
  [[nodiscard]] bool lost(portals::Rank peer) const override;
  [[nodiscard]] std::string loss(portals::Rank peer) const override;
  void run_program(void (*function)(void*), void* argument) override;
  [[nodiscard]] bool recording() const override;
  void record(const host::Event& event) override;
  [[nodiscard]] std::uint64_t& counter(std::size_t index) override;
  [[noreturn]] void abort(int code, const std::string& message) override;
  [[nodiscard]] portals::Status set_poll_interval(const std::string& wire, const std::string& interval) override;
  [[nodiscard]] portals::Status set_polling(const std::string& wire, bool on) override;
  [[nodiscard]] portals::Status poll_counts(const std::string& wire, host::PollCounts& out) override;

  // The library's name, valid as long as the process, and whether one of its portals is `portal`.
  [[nodiscard]] const char* name() const { return library_.name; }
  [[nodiscard]] bool has(portals::PortalIndex portal) const;
  // The library's place on the job board; also its number in trace events.
  [[nodiscard]] std::size_t slot() const { return slot_; }

 private:
  // The listener of an observer, whatever it observes: made at its first use and kept until end().
  [[nodiscard]] mpi_adi::Listener& listener_of(host::Observer& observer);
  // Adds a listener to one of the device's lists, or removes it. A listener is in a list once, however often it is
  // added.
  void list(std::vector<mpi_adi::Listener*>& listeners, host::Observer& observer, bool on);
  // The definitions of the library's portals, match bits and events, for a trace: a reader needs no file of the
  // library.
  void define_in_trace(sim::Recorder& recorder) const;
  // Fails for a portal that the library has not named, with the cure. Whether the portal is free, the table checks.
  [[nodiscard]] portals::Status check_portal(portals::PortalIndex portal) const;
  // Ends the process if a message has an invalid destination, or a portal that is not the library's.
  void check(const portals::Header& header) const;
  // Ends the process if a way to a rank is not open.
  void check_way(portals::Rank peer, host::Way way) const;
  // The ranks below this number are peers of the library.
  [[nodiscard]] std::uint32_t peers() const { return library_.spans_places ? places() : size(); }
  // The first rank that is lost and may have to end a wait for `peer`; kAnyRank: there is none. One comparison in a job
  // without losses, because each round of a wait asks.
  [[nodiscard]] portals::Rank first_lost(portals::Rank peer) const;
  // The failure that names a lost rank.
  [[nodiscard]] portals::Status lost_rank(const char* call, portals::Rank peer) const;

  // Constant after construction. `library_` refers to the program's arrays of names.
  mpi_adi::MpiRank& rank_;
  // The process of the thread that joined.
  mpi_adi::MpiProcess& process_;
  const host::Library library_;
  std::uint64_t portals_ = 0;  // a bit for each of its portals, which Libraries::check() has tested
  const std::size_t slot_;     // on the job board
  const Release release_;
  // Owned by the rank, from open() to end().
  mpi_adi::Communicator* communicator_ = nullptr;
  // The address in the program to which the latest call returns. Written in enter() and run_program().
  const void* caller_ = nullptr;
  // The name of the latest call, a literal, and its form on the job board. Most calls have the name of the one before.
  const char* name_on_board_ = nullptr;
  std::array<char, sim::kCallNameBytes> board_name_{};
  // The barrier in progress, or the last one; nullptr before the first.
  std::unique_ptr<collectives::CallTask> barrier_;
  // By observer. Owner tags of descriptors and transmissions point to the listeners, so these are neither moved nor
  // deleted before end().
  std::unordered_map<host::Observer*, std::unique_ptr<ObserverListener>> listeners_;
};

}  // namespace margay::libraries
