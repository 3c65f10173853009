// The paper's figures 3 to 7, as scenarios and expectations for worlds over any wire. Rank 0 sends, rank 1 receives.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/mpi_adi/device_world.hpp"

namespace margay::mpi_adi {

struct Figure {
  std::string_view name;
  SendMode mode;
  std::size_t bytes;
  bool posted_before;
  std::vector<std::string> steps;  // of both ranks, in the only right order
  DeviceOptions::LongProtocol long_protocol = DeviceOptions::LongProtocol::puma;
};

inline constexpr std::size_t kShort = 100;
inline constexpr std::size_t kLong = 100'000;

inline const std::vector<Figure> kFigures{
    {"3: short standard, posted",
     SendMode::standard,
     kShort,
     true,
     {"receiver posts", "sender puts to receive", "receiver saves both", "receive done"}},
    {"3: short standard, unexpected",
     SendMode::standard,
     kShort,
     false,
     {"sender puts to receive", "receiver saves both", "receiver posts", "receiver finds it", "receive done"}},
    {"4: long standard, posted",
     SendMode::standard,
     kLong,
     true,
     {"receiver posts", "sender puts to receive", "receiver saves both", "receiver acknowledges both", "receive done"}},
    {"5: long standard, unexpected",
     SendMode::standard,
     kLong,
     false,
     {"sender puts to receive", "receiver saves header", "receiver acknowledges header", "receiver posts",
      "receiver finds it", "receiver pulls", "receiver gets from read", "sender replies to receive",
      "receiver saves both", "receive done"}},
    {"6: short synchronous, posted",
     SendMode::synchronous,
     kShort,
     true,
     {"receiver posts", "sender puts to receive", "receiver saves both", "receive done",
      "receiver puts to acknowledgment", "sender saves header"}},
    {"6: short synchronous, unexpected",
     SendMode::synchronous,
     kShort,
     false,
     {"sender puts to receive", "receiver saves both", "receiver posts", "receiver finds it", "receive done",
      "receiver puts to acknowledgment", "sender saves header"}},
    {"long synchronous, posted",
     SendMode::synchronous,
     kLong,
     true,
     {"receiver posts", "sender puts to receive", "receiver saves both", "receiver acknowledges both", "receive done",
      "receiver puts to acknowledgment", "sender saves header"}},
    {"7: long synchronous, unexpected",
     SendMode::synchronous,
     kLong,
     false,
     {"sender puts to receive", "receiver saves header", "receiver acknowledges header", "receiver posts",
      "receiver finds it", "receiver pulls", "receiver gets from read", "sender replies to receive",
      "receiver saves both", "receive done", "receiver puts to acknowledgment", "sender saves header"}},
    {"short ready, posted",
     SendMode::ready,
     kShort,
     true,
     {"receiver posts", "sender puts to receive", "receiver saves both", "receive done"}},
    {"short ready, not posted", SendMode::ready, kShort, false, {"sender puts to receive", "receiver drops no_match"}},
    {"long ready, posted",
     SendMode::ready,
     kLong,
     true,
     {"receiver posts", "sender puts to receive", "receiver saves both", "receive done"}},
    {"long ready, not posted", SendMode::ready, kLong, false, {"sender puts to receive", "receiver drops no_match"}},
    {"rendezvous, posted",
     SendMode::standard,
     kLong,
     true,
     {"receiver posts", "sender puts to receive", "receiver saves both", "receiver pulls", "receiver gets from read",
      "sender replies to receive", "receiver saves both", "receive done"},
     DeviceOptions::LongProtocol::rendezvous},
    {"rendezvous synchronous, unexpected",
     SendMode::synchronous,
     kLong,
     false,
     {"sender puts to receive", "receiver saves header", "receiver posts", "receiver finds it", "receiver pulls",
      "receiver gets from read", "sender replies to receive", "receiver saves both", "receive done",
      "receiver puts to acknowledgment", "sender saves header"},
     DeviceOptions::LongProtocol::rendezvous},
};

inline std::string_view portal_word(std::uint8_t portal) {
  constexpr std::array<std::string_view, 3> kWords{"receive", "acknowledgment", "read"};
  return portal < kWords.size() ? kWords[portal] : "another portal";
}

inline std::string_view saved_word(portals::Saved saved) {
  constexpr std::array<std::string_view, 4> kWords{"nothing", "header", "body", "both"};
  return kWords[static_cast<std::size_t>(saved)];
}

// One event as a step of a figure; empty for events that the figures do not show.
inline std::string figure_step(const sim::TraceEvent& event, bool sender) {
  const std::string who = sender ? "sender " : "receiver ";
  const std::string portal(portal_word(event.portal));
  const std::string saved(saved_word(event.saved));
  switch (event.kind) {
    case sim::TraceKind::kernel_send:
      return who + (event.header == static_cast<std::uint8_t>(portals::Kind::get) ? "gets from " : "puts to ") + portal;
    case sim::TraceKind::kernel_deposit:
      // An incoming acknowledgment is shown at its departure.
      if (event.header == static_cast<std::uint8_t>(portals::Kind::acknowledgment)) return {};
      return who + "saves " + saved;
    case sim::TraceKind::kernel_ack_sent:
      return who + "acknowledges " + saved;
    case sim::TraceKind::kernel_reply_sent:
      return who + "replies to " + portal;
    case sim::TraceKind::kernel_drop:
      return who + "drops " +
             (event.reason == static_cast<std::uint8_t>(portals::DropReason::no_match) ? "no_match" : "otherwise");
    case sim::TraceKind::post_receive:
      return who + "posts";
    case sim::TraceKind::search_hit:
      return who + "finds it";
    case sim::TraceKind::pull_begin:
      return who + "pulls";
    case sim::TraceKind::receive_complete:
      return "receive done";
    default:
      return {};
  }
}

// Both ranks' steps in the order of the world's clock.
inline std::vector<std::string> figure_steps(DeviceWorld& world) {
  struct Seen {
    std::uint64_t time;
    std::string step;
  };
  std::vector<Seen> seen;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    for (const sim::TraceEvent& event : world.recorder(rank).events()) {
      if (std::string step = figure_step(event, rank == 0); !step.empty()) seen.push_back({event.time, step});
    }
  }
  std::stable_sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.time < b.time; });
  std::vector<std::string> steps;
  for (Seen& one : seen) steps.push_back(std::move(one.step));
  return steps;
}

inline std::string lines(const std::vector<std::string>& steps) {
  std::string out;
  for (const std::string& step : steps) out += step + "\n";
  return out;
}

// Plays one figure in a traced world of two and checks steps, data, counts and rest.
inline void play(DeviceWorld& world, const Figure& figure) {
  constexpr int kTag = 7;
  const std::vector<std::byte> sent = pattern(figure.bytes, 1);
  std::vector<std::byte> received(figure.bytes);
  const auto count = static_cast<std::int64_t>(figure.bytes);
  const bool dropped = figure.mode == SendMode::ready && !figure.posted_before;
  Request* receive = nullptr;
  const auto post = [&] {
    receive = world.device(1).start_receive({received.data(), count, &world.bytes(), 0, kTag, &world.world(1)});
  };

  if (figure.posted_before) post();
  world.tick();
  Request* const send =
      world.device(0).start_send({figure.mode, sent.data(), count, &world.bytes(), 1, kTag, &world.world(0)});
  if (!figure.posted_before) world.settle();
  const bool needs_receiver = figure.mode == SendMode::synchronous || (figure.bytes == kLong && !dropped);
  if (!figure.posted_before) CHECK(send->complete == !needs_receiver);
  if (!figure.posted_before && !dropped) post();
  world.tick();
  world.settle();

  REQUIRE(send->complete);
  CHECK(send->error_class == MPI_SUCCESS);
  if (dropped) {
    CHECK(world.device(1).counts().ready_dropped == 1);
  } else {
    REQUIRE(receive != nullptr);
    REQUIRE(receive->complete);
    CHECK(receive->error_class == MPI_SUCCESS);
    CHECK(receive->source == 0);
    CHECK(receive->tag == kTag);
    CHECK(receive->bytes == figure.bytes);
    CHECK(received == sent);
    world.device(1).free(*receive);
  }
  world.device(0).free(*send);
  REQUIRE(lines(figure_steps(world)) == lines(figure.steps));
  world.check_accounting();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    CHECK(world.device(rank).quiet());
    CHECK(!world.kernel(rank).unfinished());
    CHECK(world.world(rank).references == 1);
  }
}

}  // namespace margay::mpi_adi
