// Fuzzes a whole context of Nexus among two others, whose messages are the input: requests, long ones, forwarded ones,
// startpoints, markers, control messages. The context ends by itself or with an `error`; when the input is used up, the
// other contexts are lost. Corpus: tests/fuzz/nexus_node_corpus.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "libraries/nexus/context.hpp"
#include "margay/nexus.hpp"
#include "tests/fuzz/feeder.hpp"

namespace margay::nexus::fuzz {

constexpr std::uint32_t kContexts = margay::fuzz::kProcesses;
class NexusFeeder final : public margay::fuzz::Feeder {
  using Feeder::Feeder;

  bool add_next() override {
    const std::uint8_t choice = script_.byte();
    portals::Header header;
    header.source.rank = other(choice / 8);
    switch (choice % 8) {
      case 0:
      case 1: {
        head(header, core::FrameKind::request, script_.byte());
        return add(header, body(script_.byte()));
      }
      case 2:
        head(header, static_cast<core::FrameKind>(2 + script_.byte() % 5), script_.byte());
        return add(header, script_.take(script_.byte() % 8));
      case 3:
        head(header, core::FrameKind::request, script_.byte());
        header.portal = core::kForwardPortal;
        return add(header, body(script_.byte()));
      case 4:
        head(header, core::FrameKind::request, script_.byte());
        header.match_bits |= std::uint64_t{core::kIsLong} << 16;
        header.offset = (script_.number(3) % kLongMost) << 24 | script_.byte();
        return add(header, {});
      case 5:
        header.portal = core::kFetchPortal;
        header.kind = portals::Kind::reply;
        header.match_bits = script_.byte() % 4;
        return add(header, std::vector<std::byte>(script_.number(2), std::byte{3}));
      case 6:
        header.portal = core::kControlPortal;
        header.match_bits = core::control_bits(static_cast<core::Control>(script_.byte() % 16), script_.byte());
        return add(header, script_.take(script_.byte()));
      default:
        header.portal = static_cast<portals::PortalIndex>(core::kRequestPortal + script_.byte() % 5);
        header.match_bits = script_.number(8);
        header.offset = script_.number(4) % kLongMost;
        for (std::byte& each : header.user_data) each = std::byte{script_.byte()};
        return add(header, script_.take(script_.byte()));
    }
  }

  // The tables by which a context's start ends.
  bool start() override {
    core::Table table{
        {"local", {}, core::kNoContext}, {"shm", std::vector<std::byte>(16), core::kNoContext}, {"tcp", {}, 2}};
    for (std::uint32_t source = 0; source < kContexts; ++source) {
      if (source == rank_.rank() || (rank_.rank() != 0 && source != 0)) continue;
      std::vector<std::byte> bytes;
      for (std::uint32_t i = 0; i < (rank_.rank() == 0 ? 1 : kContexts); ++i) {
        bytes.resize(bytes.size() + 4);
        core::encode(table, bytes);
      }
      portals::Header header;
      header.source.rank = source;
      header.portal = core::kControlPortal;
      header.match_bits = core::control_bits(rank_.rank() == 0 ? core::Control::hello : core::Control::welcome);
      add(header, bytes);
    }
    return true;
  }
  // `choice`: the endpoint, the handler, the link, and flags.
  void head(portals::Header& header, core::FrameKind kind, std::uint8_t choice) {
    const std::uint8_t flags = choice >= 0x80 ? script_.byte() : 0;
    const std::uint32_t endpoint = kind == core::FrameKind::request ? choice % 4 : 0;
    header.portal = core::kRequestPortal;
    header.match_bits = core::endpoint_bits(endpoint, 0) | portals::MatchBits{flags} << 16 | choice / 4 % 2;
    const char* const names[] = {"take", "use", "absent"};
    const std::uint32_t first = static_cast<std::uint32_t>(kind) | core::handler_number(names[choice / 8 % 3]) << 8;
    const std::uint32_t epoch = choice >= 0x40 ? script_.byte() % 4 : 0,
                        origin = choice >= 0x60 ? script_.byte() % 5 : 0;
    std::memcpy(header.user_data.data(), &first, 4);
    std::memcpy(header.user_data.data() + 4, &epoch, 4);
    std::memcpy(header.user_data.data() + 8, &origin, 4);
  }
  // A buffer that is right, perhaps with a changed byte; or any bytes.
  std::vector<std::byte> body(std::uint8_t choice) {
    if (choice % 4 == 3) {
      const std::span<const std::byte> any = script_.take(script_.byte());
      return {any.begin(), any.end()};
    }
    core::LinkData link;
    link.context = choice / 4 % kContexts;
    link.endpoint = 1 + choice / 16 % 2;
    link.table = std::make_shared<const core::Table>(
        core::Table{{"shm", std::vector<std::byte>(16), core::kNoContext},
                    {"tcp", std::vector<std::byte>(16), choice >= 0x80 ? 2U : core::kNoContext}});
    std::vector<std::byte> encoded;
    const core::LinkData* const links[] = {&link};
    core::encode(links, choice % 4 == 1, encoded);
    std::vector<std::byte> bytes{std::byte{static_cast<unsigned char>(Type::startpoint)}};
    const auto count = static_cast<std::uint32_t>(encoded.size());
    bytes.resize(5);
    std::memcpy(bytes.data() + 1, &count, sizeof count);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    if (choice >= 0xc0) bytes[script_.byte() % bytes.size()] ^= std::byte{script_.byte()};
    return bytes;
  }
};

template <class Step>
void attempt(Step&& step) {
  try {
    step();
  } catch (const error&) {
  }
}

void run_program() {
  register_handler("take", [](Endpoint&, Buffer& buffer) {
    while (!buffer.at_end()) static_cast<void>(buffer.get<std::vector<std::byte>>());
  });
  register_handler("use", [](Endpoint&, Buffer& buffer) {
    Startpoint startpoint = buffer.get<Startpoint>();
    static_cast<void>(explain(startpoint));
    static_cast<void>(send(startpoint, "take", Buffer().put(std::vector<std::byte>(20'000))));
    Startpoint copy = startpoint;
    copy.reorder({"tcp"});
    static_cast<void>(send(copy, "take"));
  });
  attempt([] { init(); });
  if (core::here.context == nullptr) return;
  {
    Endpoint one, two;
    Startpoint own(one);
    own.bind(two);
    attempt([&] { static_cast<void>(send(own, "take", Buffer().put(std::byte{7}))); });
    attempt([] { forward("tcp", context(), {(context() + 1) % 3}); });
    for (int i = 0; i < 20; ++i) attempt([] { poll(); });
    for (int i = 0; i < 20; ++i) attempt([] { wait_until([] { return false; }); });
  }
  attempt([] { finish(); });
}

}  // namespace margay::nexus::fuzz

// The handlers of a thread are never freed (libraries/nexus/calling.cpp).
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay;
  fuzz::run_alone<nexus::fuzz::NexusFeeder>(std::as_bytes(std::span(data, bytes)), nexus::fuzz::run_program);
  return 0;
}
