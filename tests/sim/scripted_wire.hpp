// A scripted wire: the test plays its far end. It makes the arrivals, and decides when and how transmissions end.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <vector>

#include "sim/wire/wire.hpp"

namespace margay::sim::test {

class ScriptedWire final : public Wire {
 public:
  explicit ScriptedWire(TransmissionList& finished, WireId id = WireId::shm) : Wire(id), finished_(finished) {}

  // A message that try_send() accepted.
  struct Sent {
    std::uint32_t peer;
    portals::Header header;
    std::vector<std::byte> body;
  };
  std::vector<Sent> sent;
  bool full = false;                // try_send() returns false
  bool too_late = false;            // replace() returns false
  bool in_transit_now = false;      // the result of in_transit()
  bool push_moves = false;          // the result of push()
  std::uint64_t read_on = 0;        // the result of bodies_read_on()
  std::function<void()> taking;     // called by try_send() before it takes a message
  std::function<void()> polling;    // called by each poll()
  int descriptor = -1;              // the result of wait_descriptor()
  std::deque<Transmission*> queue;  // handed over by send(), oldest first

  // The numbers of calls, by function.
  int tries = 0, pushes = 0, polls = 0, consumed = 0, held = 0, refused = 0;
  int nudged_queued = 0, idle_rounds = 0, times_passed = 0;
  std::vector<std::uint32_t> nudged;      // peers
  std::vector<Transmission*> stopped;     // the arguments of stop()
  std::vector<bool> away;                 // the arguments of owner_away()
  std::vector<portals::Region> accepted;  // landings, with the cookies beside them
  std::vector<void*> cookies;

  void hint(bool quiet, bool needs_push) {
    quiet_ = quiet;
    needs_push_ = needs_push;
  }
  void bring_part() { part_ = true; }

  // Adds the arrival of a message from `peer`, with its number. `body` must outlive the poll that takes it.
  void bring(std::uint32_t peer, std::uint64_t sequence, portals::Header header, std::vector<std::byte>& body,
             Arrival::Kind kind = Arrival::Kind::whole) {
    Arrival& arrival = arrivals_.emplace_back();
    arrival.kind = kind;
    arrival.peer = peer;
    arrival.sequence = sequence;
    header.source.rank = peer;
    header.length = body.size();
    arrival.header = header;
    arrival.body = portals::Region(body.data(), body.size());
  }
  // Adds the end of an accepted message's body: it has arrived completely, or will not.
  void bring_end(Arrival::Kind kind, void* cookie) {
    Arrival& arrival = arrivals_.emplace_back();
    arrival.kind = kind;
    arrival.cookie = cookie;
  }
  void bring_loss(Arrival::Kind kind, std::uint32_t peer, std::string_view loss) {
    Arrival& arrival = arrivals_.emplace_back();
    arrival.kind = kind;
    arrival.peer = peer;
    arrival.loss = loss;
  }
  // Ends the oldest queued transmission.
  void end(Transmission::State state) {
    Transmission& transmission = *queue.front();
    queue.pop_front();
    transmission.state = state;
    finished_.push(transmission);
  }

  [[nodiscard]] bool try_send(std::uint32_t peer, const portals::Header& header, const portals::Region& body) override {
    ++tries;
    if (taking) taking();
    if (full) return false;
    Sent& taken = sent.emplace_back(Sent{peer, header, std::vector<std::byte>(body.bytes())});
    portals::RegionCursor(body).read(taken.body);
    return true;
  }
  void send(std::uint32_t, Transmission& transmission) override { queue.push_back(&transmission); }
  void stop(std::uint32_t, Transmission& transmission) override { stopped.push_back(&transmission); }
  [[nodiscard]] bool replace(std::uint32_t, Transmission& transmission, Transmission& instead) override {
    for (Transmission*& queued : queue) {
      if (too_late || queued != &transmission) continue;
      queued = &instead;
      return true;
    }
    return false;
  }
  bool push() override {
    ++pushes;
    return push_moves;
  }
  [[nodiscard]] bool poll(Arrival& arrival) override {
    ++polls;
    if (polling) polling();
    body_moved_ |= part_;
    part_ = false;
    if (arrivals_.empty()) return false;
    arrival = arrivals_.front();
    arrivals_.pop_front();
    return true;
  }
  void consume() override { ++consumed; }
  void hold() override { ++held; }
  void accept(const portals::Region& landing, void* cookie) override {
    accepted.push_back(landing);
    cookies.push_back(cookie);
  }
  void refuse() override { ++refused; }
  [[nodiscard]] bool idle() const override { return queue.empty(); }
  [[nodiscard]] bool in_transit() const override { return in_transit_now; }
  [[nodiscard]] std::uint64_t bodies_read_on() const override { return read_on; }
  [[nodiscard]] int wait_descriptor() const override { return descriptor; }
  [[nodiscard]] bool wakes_other_threads() const override { return descriptor >= 0; }
  void nudge(std::uint32_t peer) override { nudged.push_back(peer); }
  void nudge_queued() override { ++nudged_queued; }
  void idle_round() override { ++idle_rounds; }
  void time_passed() override { ++times_passed; }
  void owner_away(bool is_away) override { away.push_back(is_away); }

 private:
  TransmissionList& finished_;
  std::deque<Arrival> arrivals_;
  bool part_ = false;
};

}  // namespace margay::sim::test
