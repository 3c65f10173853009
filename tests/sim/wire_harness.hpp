// The base of the wire contract's tests: a set of connected wires driven by one thread, and an endpoint that answers
// arrivals as the test sets it, and records them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/wire/wire.hpp"

namespace margay::sim::test {

// The longest wait for an event: a guard against endless waits, which no event reaches even on a busy machine. Not a
// tested bound.
constexpr std::chrono::seconds kGuard{60};

// Connected wires, one per rank. A set of one rank is a wire to itself.
class WireSet {
 public:
  virtual ~WireSet() = default;
  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual Wire& wire(std::uint32_t rank) = 0;
  [[nodiscard]] virtual TransmissionList& finished(std::uint32_t rank) = 0;
  // Lets time pass; called if a round of all endpoints moved nothing.
  virtual void turn() {}
};
using WireFactory = std::function<std::unique_ptr<WireSet>(std::uint32_t ranks)>;

// The bytes of a message from 8 * index on. A word at a time, because filling and comparing single bytes dominated the
// cost of these tests under a sanitizer.
inline std::uint64_t pattern_word(std::uint64_t message, std::uint64_t index) {
  std::uint64_t mixed = (message * 0x9e37'79b9'7f4a'7c15 + index) * 0xbf58'476d'1ce4'e5b9;
  mixed ^= mixed >> 32;
  return mixed * 0x94d0'49bb'1331'11eb;
}

inline std::byte pattern(std::uint64_t message, std::uint64_t index) {
  return static_cast<std::byte>(pattern_word(message, index / 8) >> (index % 8 * 8));
}

inline std::vector<std::byte> pattern_body(std::uint64_t message, std::size_t bytes) {
  std::vector<std::byte> body(bytes);
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    const std::uint64_t word = pattern_word(message, i / 8);
    std::memcpy(body.data() + i, &word, 8);
  }
  for (; i < bytes; ++i) body[i] = pattern(message, i);
  return body;
}

// A region over `memory` in pieces of uneven length; the table lives here.
class Pieces {
 public:
  Pieces(std::vector<std::byte>& memory, std::size_t first_piece) {
    std::size_t at = 0;
    for (std::size_t piece = first_piece; at < memory.size(); piece = piece * 3 % 4099 + 1) {
      const std::size_t bytes = std::min(piece, memory.size() - at);
      table_.push_back({memory.data() + at, bytes});
      at += bytes;
    }
    if (table_.empty()) table_.push_back({memory.data(), 0});
  }
  [[nodiscard]] portals::Region region() const { return portals::Region(std::span<const portals::Buffer>(table_)); }

 private:
  std::vector<portals::Buffer> table_;
};

struct Received {
  enum class State { coming, complete, cut, refused };
  std::uint32_t peer = 0;
  std::uint64_t sequence = 0;
  portals::Header header;
  std::vector<std::byte> body;
  std::unique_ptr<Pieces> pieces;
  State state = State::coming;
  bool was_started = false;
  BodyReport reported;  // set when it is complete
};

// An outgoing message, with the memory of its body.
struct Outgoing {
  Transmission transmission;
  std::vector<std::byte> body;
  std::unique_ptr<Pieces> pieces;
};

class Endpoint {
 public:
  enum class Answer { take, hold, refuse };

  Endpoint(Wire& wire, TransmissionList& finished, std::uint32_t ranks)
      : wire_(wire), finished_(finished), sequences_(ranks) {}

  std::function<Answer(const Arrival&)> answer = [](const Arrival&) { return Answer::take; };
  std::size_t landing_piece = 0;         // not 0: bodies land in pieces, the first this long
  std::size_t landing_bytes = SIZE_MAX;  // the remainder of a longer body is skipped
  std::deque<Received> received;
  std::deque<Outgoing> outgoing;  // in order of send(); try_send adds none
  std::vector<std::uint32_t> lost;
  std::uint64_t transmissions_done = 0;

  [[nodiscard]] Wire& wire() { return wire_; }

  // Sends by try_send(), or by send() if that has no room.
  void send(std::uint32_t peer, portals::Header header, std::vector<std::byte> body, std::size_t piece = 0) {
    header.length = body.size();
    std::unique_ptr<Pieces> pieces;
    if (piece != 0) pieces = std::make_unique<Pieces>(body, piece);
    const portals::Region region = pieces ? pieces->region() : portals::Region(body.data(), body.size());
    if (wire_.try_send(peer, header, region)) {
      ++sequences_[peer];
      return;
    }
    queue(peer, header, std::move(body), std::move(pieces));
  }

  // Sends by send().
  void queue(std::uint32_t peer, portals::Header header, std::vector<std::byte> body, std::size_t piece) {
    std::unique_ptr<Pieces> pieces;
    if (piece != 0) pieces = std::make_unique<Pieces>(body, piece);
    queue(peer, header, std::move(body), std::move(pieces));
  }
  Outgoing& queue(std::uint32_t peer, portals::Header header, std::vector<std::byte> body,
                  std::unique_ptr<Pieces> pieces = nullptr) {
    Outgoing& out = outgoing.emplace_back();
    out.body = std::move(body);
    out.pieces = std::move(pieces);
    out.transmission.header = header;
    out.transmission.header.length = out.body.size();
    out.transmission.body = out.pieces ? out.pieces->region() : portals::Region(out.body.data(), out.body.size());
    out.transmission.sequence = ++sequences_[peer];
    wire_.send(peer, out.transmission);
    return out;
  }

  // One round of progress: a push, then polls until none finds an arrival. Returns whether anything moved.
  bool round() {
    bool moved = wire_.push();
    Arrival arrival;
    while (wire_.poll(arrival)) {
      moved |= take(arrival);
    }
    while (Transmission* done = finished_.pop()) {
      moved = true;
      ++transmissions_done;
      CHECK(done->state != Transmission::State::queued);
      CHECK(done->state != Transmission::State::idle);
    }
    return moved;
  }

 private:
  // Returns false if the arrival is held, so that time may pass.
  bool take(const Arrival& arrival) {
    switch (arrival.kind) {
      case Arrival::Kind::whole:
        return take_whole(arrival);
      case Arrival::Kind::started:
        return take_started(arrival);
      case Arrival::Kind::finished:
        static_cast<Received*>(arrival.cookie)->state = Received::State::complete;
        static_cast<Received*>(arrival.cookie)->reported = wire_.body_report();
        return true;
      case Arrival::Kind::cut:
        static_cast<Received*>(arrival.cookie)->state = Received::State::cut;
        return true;
      case Arrival::Kind::lost:
      case Arrival::Kind::left:
        CHECK_FALSE(arrival.loss.empty());
        lost.push_back(arrival.peer);
        return true;
    }
    return true;
  }

  Received& keep(const Arrival& arrival) {
    Received& message = received.emplace_back();
    message.peer = arrival.peer;
    message.sequence = arrival.sequence;
    message.header = arrival.header;
    return message;
  }

  bool take_whole(const Arrival& arrival) {
    CHECK_EQ(arrival.body.bytes(), arrival.header.length);
    if (answer(arrival) == Answer::hold) return wire_.hold(), false;
    Received& message = keep(arrival);
    message.body.resize(static_cast<std::size_t>(arrival.header.length));
    portals::RegionCursor(arrival.body).read(message.body);
    message.state = Received::State::complete;
    wire_.consume();
    message.reported = wire_.body_report();
    return true;
  }

  bool take_started(const Arrival& arrival) {
    const Answer what = answer(arrival);
    if (what == Answer::hold) return wire_.hold(), false;
    Received& message = keep(arrival);
    message.was_started = true;
    if (what == Answer::refuse) {
      message.state = Received::State::refused;
      return wire_.refuse(), true;
    }
    message.body.resize(std::min(static_cast<std::size_t>(arrival.header.length), landing_bytes));
    if (landing_piece != 0) message.pieces = std::make_unique<Pieces>(message.body, landing_piece);
    wire_.accept(message.pieces ? message.pieces->region() : portals::Region(message.body.data(), message.body.size()),
                 &message);
    return true;
  }

  Wire& wire_;
  TransmissionList& finished_;
  std::vector<std::uint64_t> sequences_;
};

// All endpoints of a set, driven in turns by one thread.
class Rig {
 public:
  Rig(const WireFactory& factory, std::uint32_t ranks) : set_(factory(ranks)) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      endpoints_.push_back(std::make_unique<Endpoint>(set_->wire(rank), set_->finished(rank), ranks));
    }
  }
  [[nodiscard]] Endpoint& operator[](std::uint32_t rank) { return *endpoints_[rank]; }
  [[nodiscard]] WireSet& set() { return *set_; }

  // Makes rounds until `done`, at most `limit`. Returns whether `done` became true.
  bool until(const std::function<bool()>& done, std::chrono::milliseconds limit = kGuard) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      bool moved = false;
      for (auto& endpoint : endpoints_) moved |= endpoint->round();
      if (!moved) set_->turn();
      if (std::chrono::steady_clock::now() > end) return done();
    }
    return true;
  }
  // Makes rounds of all endpoints but `silent` while anything moves, and lets `extra` turns of time pass.
  void drive_without(std::uint32_t silent, int extra = 200) {
    for (int quiet = 0; quiet < extra;) {
      bool moved = false;
      for (std::uint32_t rank = 0; rank < endpoints_.size(); ++rank) {
        if (rank != silent) moved |= endpoints_[rank]->round();
      }
      if (moved) continue;
      ++quiet;
      set_->turn();
    }
  }
  [[nodiscard]] bool all_idle() const {
    for (const auto& endpoint : endpoints_) {
      if (!endpoint->wire().idle()) return false;
    }
    return true;
  }

 private:
  // Destroyed after the wires, because a wire that ends before its sender was notified of the end still refers to
  // transmissions here.
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::unique_ptr<WireSet> set_;
};

// Checks that the message's body equals pattern_body(number), up to `bytes`.
inline bool body_is(const Received& message, std::uint64_t number, std::size_t bytes) {
  if (message.body.size() < bytes) return false;
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, message.body.data() + i, 8);
    if (word != pattern_word(number, i / 8)) return false;
  }
  for (; i < bytes; ++i) {
    if (message.body[i] != pattern(number, i)) return false;
  }
  return true;
}

}  // namespace margay::sim::test
