// Unit tests of the codecs of Nexus: tables, startpoints, frames, and the order of links.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "libraries/nexus/item.hpp"
#include "libraries/nexus/table.hpp"

namespace {

using namespace margay;
using namespace margay::nexus::core;

Table table_of(std::initializer_list<const char*> names) {
  Table table;
  for (const char* name : names)
    table.push_back({name, std::vector<std::byte>(table.size() * 3, std::byte{7}), kNoContext});
  return table;
}

LinkData link_of(std::uint32_t context, std::uint32_t endpoint) {
  LinkData link;
  link.context = context;
  link.endpoint = endpoint;
  link.generation = 9;
  link.table = std::make_shared<const Table>(table_of({"local", "shm", "tcp"}));
  return link;
}

std::vector<std::byte> bytes_of(const LinkData& link, bool light) {
  std::vector<std::byte> bytes;
  const LinkData* const links[] = {&link};
  encode(links, light, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("nexus table: a startpoint travels with its table and choices; a light one in 16 bytes a link") {
  LinkData link = link_of(2, 77);
  link.forced = "tcp";
  link.transforms = {"secure", "compressed"};
  link.quality = {.ordered = false, .secure = true, .latency_most_ns = 5, .bytes_per_second = 6};
  bool light = true;
  std::vector<LinkData> out;
  REQUIRE(decode(bytes_of(link, false), 3, light, out).ok());
  CHECK(!light);
  REQUIRE(out.size() == 1);
  CHECK(out[0].context == 2);
  CHECK(out[0].endpoint == 77);
  CHECK(out[0].generation == 9);
  CHECK(*out[0].table == *link.table);
  CHECK(out[0].forced == "tcp");
  CHECK(out[0].transforms == link.transforms);
  CHECK(!out[0].quality.ordered);
  CHECK(out[0].quality.secure);
  CHECK(out[0].quality.bytes_per_second == 6);
  const std::vector<std::byte> short_one = bytes_of(link, true);
  CHECK(short_one.size() == 4 + 16);
  REQUIRE(decode(short_one, 3, light, out).ok());
  CHECK(light);
  CHECK(out[0].table == nullptr);
}

TEST_CASE("nexus table: damaged startpoints and tables are refused") {
  bool light = false;
  std::vector<LinkData> out;
  const LinkData link = link_of(2, 77);
  const std::vector<std::byte> good = bytes_of(link, false);
  // Each cut, and a byte too many.
  for (std::size_t at = 0; at < good.size(); ++at) CHECK(!decode(std::span(good).first(at), 3, light, out).ok());
  std::vector<std::byte> more = good;
  more.push_back(std::byte{0});
  CHECK(!decode(more, 3, light, out).ok());
  // Contexts, endpoints and forwarders that do not exist.
  CHECK(!decode(good, 2, light, out).ok());
  CHECK(!decode(bytes_of(link_of(2, kControlEndpoint), false), 3, light, out).ok());
  CHECK(!decode(bytes_of(link_of(2, kEndpointsMost + 1), false), 3, light, out).ok());
  const auto refuses = [&](Table table) {
    LinkData bad = link_of(0, 1);
    bad.table = std::make_shared<const Table>(std::move(table));
    return !decode(bytes_of(bad, false), 3, light, out).ok();
  };
  CHECK(refuses({}));
  CHECK(refuses(table_of({"tcp", "tcp"})));
  CHECK(refuses(table_of({""})));
  CHECK(refuses(table_of({"a name that is long"})));
  CHECK(refuses(table_of({"t/p"})));
  CHECK(refuses({{"tcp", {}, 3}}));
  CHECK(refuses({{"tcp", std::vector<std::byte>(257), kNoContext}}));
  CHECK(refuses(Table(17, {"tcp", {}, kNoContext})));
  CHECK(!refuses({{"tcp", std::vector<std::byte>(256), 2}}));
}

TEST_CASE("nexus table: frames of modules travel, and damaged ones are refused") {
  const Frame frame{.kind = FrameKind::marker,
                    .flags = kIsForwarded | kIsPacked,
                    .endpoint = 0xff'ffff,
                    .generation = 0xfffe,
                    .link = 3,
                    .handler = 0xab'cdef,
                    .epoch = 4,
                    .origin = 5,
                    .body_bytes = 6};
  const FrameBytes good = encode(frame);
  Frame out;
  REQUIRE(decode(good, 6, out).ok());
  CHECK(out == frame);
  CHECK(!decode(good, 7, out).ok());
  CHECK(!decode(std::span(good).first(31), 6, out).ok());
  // Magic, kind, a flag that only portals have, an endpoint and a handler that are too large.
  const std::pair<std::size_t, unsigned> changes[] = {{0, 1}, {1, 1}, {2, 0x80}, {3, kIsLong}, {7, 1}, {15, 1}};
  for (const auto& [at, change] : changes) {
    FrameBytes bad = good;
    bad[at] ^= static_cast<std::byte>(change);
    CHECK(!decode(bad, 6, out).ok());
  }
}

TEST_CASE("nexus table: messages of a link that has changed its method wait for its marker") {
  const auto item = [](FrameKind kind, std::uint32_t epoch, std::uint32_t number) {
    auto made = std::make_unique<Item>();
    made->source = 1;
    made->frame = {.kind = kind, .link = 5, .handler = number, .epoch = epoch};
    return made;
  };
  LinkOrder order;
  CHECK(!order.is_early(*item(FrameKind::request, 0, 1)));
  // The link changes twice; all messages by the last method arrive first.
  for (const std::uint32_t number : {20U, 21U}) {
    OwnedItem early = item(FrameKind::request, 2, number);
    REQUIRE(order.is_early(*early));
    order.keep(std::move(early));
  }
  OwnedItem second = item(FrameKind::marker, 1, 0);
  REQUIRE(order.is_early(*second));
  order.keep(std::move(second));
  order.keep(item(FrameKind::request, 1, 10));
  CHECK(order.kept() == 4);
  std::vector<OwnedItem> due;
  order.end_epoch(*item(FrameKind::marker, 0, 0), due);
  REQUIRE(due.size() == 2);
  CHECK(due[0]->frame.kind == FrameKind::marker);
  CHECK(due[1]->frame.handler == 10);
  const OwnedItem marker = std::move(due[0]);
  due.clear();
  CHECK(!order.is_early(*marker));
  order.end_epoch(*marker, due);
  REQUIRE(due.size() == 2);
  CHECK(due[0]->frame.handler == 20);
  CHECK(due[1]->frame.handler == 21);
  CHECK(order.kept() == 0);
  // A second end of an epoch changes nothing; messages of other links do not wait.
  due.clear();
  order.end_epoch(*marker, due);
  CHECK(due.empty());
  OwnedItem other = item(FrameKind::request, 0, 0);
  other->frame.link = 6;
  CHECK(!order.is_early(*other));
}
