// Tests that the observation of messages does not change their path: the figures of the paper take the same steps
// untraced, traced, traced with walks, with the log of decisions, and with the check of types. The steps are compared
// by counters, which always run.
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <vector>

#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "sim/base/source_lines.hpp"
#include "tests/mpi_adi/device_world.hpp"
#include "tests/mpi_adi/figures.hpp"
#include "tests/support/counted_findings.hpp"
#include "tests/support/seeds.hpp"

namespace margay::mpi_adi {
namespace {

enum class Observation : std::uint8_t { nobody, trace, walks, decisions, types };

// The actions of one rank's kernel and device, counted by kind.
struct Done {
  std::vector<std::uint64_t> counts;
  bool operator==(const Done&) const = default;
};

void add(Done& done, const ProtocolCounts::Count& count) {
  done.counts.push_back(count.messages);
  done.counts.push_back(count.bytes);
}

Done done_by(DeviceWorld& world, std::uint32_t rank) {
  Done done;
  const sim::Kernel& kernel = world.kernel(rank);
  for (std::size_t kind = 0; kind < portals::kKindCount; ++kind) {
    const sim::WireCounts& sent = kernel.initiator().counts(static_cast<portals::Kind>(kind));
    done.counts.push_back(sent.messages);
    done.counts.push_back(sent.bytes);
  }
  for (std::uint32_t peer = 0; peer < world.size(); ++peer) {
    done.counts.push_back(kernel.registers().sent(peer));
    done.counts.push_back(kernel.registers().delivered(peer));
    for (const std::uint64_t dropped : kernel.registers().dropped(peer)) done.counts.push_back(dropped);
  }
  done.counts.push_back(kernel.target().entries_walked());
  done.counts.push_back(kernel.target().counts().decided);
  done.counts.push_back(kernel.target().counts().replied);
  done.counts.push_back(kernel.target().counts().held);
  const ProtocolCounts& device = world.device(rank).counts();
  for (const auto& count : {device.short_, device.long_matched, device.long_pulled, device.synchronous_short,
                            device.synchronous_long, device.synchronous_long_pulled, device.ready, device.buffered}) {
    add(done, count);
  }
  done.counts.push_back(device.unexpected);
  done.counts.push_back(device.ready_dropped);
  done.counts.push_back(device.send_requests);
  return done;
}

// As in a blocking send.
Request* send_of(DeviceWorld& world, const Figure& figure, const std::vector<std::byte>& data, int tag) {
  const auto count = static_cast<std::int64_t>(data.size());
  Device& device = world.device(0);
  if (device.send_now({figure.mode, data.data(), count, &world.bytes(), 1, tag, &world.world(0)})) return nullptr;
  return device.start_send({figure.mode, data.data(), count, &world.bytes(), 1, tag, &world.world(0)});
}

// A few messages of the figure, one after the other; the wire may be full, and a rank late.
std::array<Done, 2> play_observed(const Figure& figure, std::uint64_t seed, Observation looks) {
  constexpr int kMessages = 5;
  WorldOptions options;
  options.device.long_protocol = figure.long_protocol;
  options.seed = seed;
  options.trace = looks == Observation::trace || looks == Observation::walks;
  options.trace_walks = looks == Observation::walks;
  testing::CountedFindings counted;
  sim::SourceLines lines;
  VirtualWorld world(options);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    if (looks == Observation::decisions) world.kernel(rank).target().decisions().keep(1000);
    if (looks == Observation::types) {
      world.recorder(rank).start_observing();
      auto& check = parts_of(world.device(rank)).type_check;
      check = std::make_unique<TypeCheck>(rank, counted.findings, lines);
      check->begin_call(rank == 0 ? "MPI_Send" : "MPI_Recv", nullptr);
    }
  }
  const std::vector<std::byte> sent = pattern(figure.bytes, 1);
  std::vector<std::vector<std::byte>> received(kMessages, std::vector<std::byte>(figure.bytes));
  std::vector<Request*> requests;
  const bool dropped = figure.mode == SendMode::ready && !figure.posted_before;
  const auto post = [&] {
    for (int i = 0; i < kMessages; ++i) {
      requests.push_back(world.device(1).start_receive({received[static_cast<std::size_t>(i)].data(),
                                                        static_cast<std::int64_t>(figure.bytes), &world.bytes(), 0, i,
                                                        &world.world(1)}));
    }
  };
  if (figure.posted_before) post();
  std::vector<Request*> sends;
  for (int i = 0; i < kMessages; ++i) {
    sends.push_back(send_of(world, figure, sent, i));
    static_cast<void>(world.step());
  }
  if (!figure.posted_before) world.settle();
  if (!figure.posted_before && !dropped) post();
  world.settle();
  for (Request* const send : sends) {
    if (send == nullptr) continue;
    CHECK(send->complete);
    world.device(0).free(*send);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CHECK(requests[i]->complete);
    CHECK(received[i] == sent);
    world.device(1).free(*requests[i]);
  }
  world.settle();
  world.check_accounting();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    // The observers were active.
    if (options.trace) CHECK(world.recorder(rank).written() > kMessages);
    if (looks == Observation::decisions && rank == 1)
      CHECK(world.kernel(rank).target().decisions().kept() >= kMessages);
  }
  return {done_by(world, 0), done_by(world, 1)};
}

TEST_CASE("figures 3 to 7 take the same steps with and without observers") {
  for (const Figure& figure : kFigures) {
    CAPTURE(figure.name);
    for (const std::uint64_t seed : margay::testing::Seeds(margay::testing::of_one_thread(100))) {
      CAPTURE(seed);
      const std::array<Done, 2> unseen = play_observed(figure, seed, Observation::nobody);
      for (const Observation looks :
           {Observation::trace, Observation::walks, Observation::decisions, Observation::types}) {
        CAPTURE(static_cast<int>(looks));
        const std::array<Done, 2> seen = play_observed(figure, seed, looks);
        CHECK(seen[0].counts == unseen[0].counts);
        CHECK(seen[1].counts == unseen[1].counts);
      }
    }
  }
}

}  // namespace
}  // namespace margay::mpi_adi
