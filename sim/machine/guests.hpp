// The guests of one process: processes of other jobs, with which it has been connected (MPI_Comm_connect). A guest has
// a place in this job, which the launcher gave it, and all processes of this job address it by that place. The other
// job addresses this process by a place there. docs/dynamic.md describes the whole.
//
// The wire of guests is TCP with the user's key as its secret, whatever wires the job has. It is opened at the first
// need, so a job without guests pays nothing for them. Used under the process lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/base/endpoint.hpp"
#include "sim/boot/job.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

class TcpWire;

class Guests {
 public:
  // `admit`: called for a place that has got a guest, or another one than before; sets the route to it. `count`: called
  // when on_this_host() may have changed. `job`, `finished` and `clock` outlive the object.
  Guests(const Job& job, TransmissionList& finished, const Clock& clock,
         std::function<void(std::uint32_t place, Wire& wire)> admit, std::function<void()> count);
  ~Guests();
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;

  // Opens the wire, which listens from then on. `is_new`: it was not open before; the caller gives it to the kernel.
  [[nodiscard]] portals::Status open(bool& is_new);
  // nullptr: not open.
  [[nodiscard]] TcpWire* wire() const { return wire_.get(); }
  // The address at which processes of other jobs reach this one: that of the wire. Empty: not open.
  [[nodiscard]] std::string address() const;

  // Fills in the place of a process of another job, which is reachable at `address`; empty: unknown, so the other
  // process makes the connection. Asks the launcher for a place at the first call for a process. Fails if the launcher
  // has none left. Requires: the wire is open.
  [[nodiscard]] portals::Status find(const Endpoint& endpoint, std::string_view address, std::uint32_t& place);
  [[nodiscard]] bool contains(std::uint32_t place) const { return !by_place_.empty() && by_place_.contains(place); }
  // The number of guests that are known to run on this process's host, because they have its address.
  [[nodiscard]] std::uint32_t on_this_host() const;
  // Whether the guest at `place` has ended its connection with this process, in order or not. Requires: a message has
  // been sent to it.
  [[nodiscard]] bool has_left(std::uint32_t place) const;
  // The identity of this process.
  [[nodiscard]] Endpoint self() const { return {job_.job_id, endpoint_place(job_.rank, job_.predecessors)}; }
  // The identity of the process in a place, guest or not, without predecessors, which are unknown for other processes
  // of this job. Equal in all jobs.
  [[nodiscard]] Endpoint order_key(std::uint32_t place) const;
  // Whether the process in one place is before that in another one, in an order that all jobs share.
  [[nodiscard]] bool is_before(std::uint32_t one, std::uint32_t other) const {
    return order_key(one) < order_key(other);
  }

  // While one exists, no guest is released: its owner is making a communicator, which does not contain the guest yet.
  class Keep {
   public:
    explicit Keep(Guests& guests) : guests_(guests) { ++guests_.keeps_; }
    ~Keep() { --guests_.keeps_; }
    Keep(const Keep&) = delete;
    Keep& operator=(const Keep&) = delete;

   private:
    Guests& guests_;
  };
  // Whether there is a reason to call release_unused() again: since the last such answer a connection has ended, or a
  // guest that wanted to connect found no place.
  [[nodiscard]] bool is_release_due();
  // Gives back the places of guests that have no connection to this process, unless `is_in_use(place)`. Returns them.
  std::vector<std::uint32_t> release_unused(const std::function<bool(std::uint32_t place)>& is_in_use);

 private:
  // Whether this process can be connected with other jobs; otherwise the reason.
  [[nodiscard]] portals::Status check() const;
  // Notes the address of the guest at `place`.
  void note_address(std::uint32_t place, std::string_view address);

  struct Guest {
    Endpoint endpoint;
    bool on_this_host = false;
  };

  const Job& job_;
  TransmissionList& finished_;
  const Clock& clock_;
  std::function<void(std::uint32_t place, Wire& wire)> admit_;
  std::function<void()> count_;
  // nullptr: not open.
  std::unique_ptr<TcpWire> wire_;
  std::uint32_t keeps_ = 0;
  // See is_release_due(): TcpWire::ends() at its last answer; a guest has been refused since.
  std::uint64_t ends_seen_ = 0;
  bool refused_ = false;
  std::map<std::uint32_t, Guest> by_place_;
  std::map<Endpoint, std::uint32_t> by_endpoint_;
};

}  // namespace margay::sim
