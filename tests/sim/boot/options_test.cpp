#include <doctest/doctest.h>

#include "sim/boot/options.hpp"

using margay::sim::Options;
using margay::sim::parse_bytes;

TEST_CASE("options are read from the environment, in lower case and without the prefix") {
  char wire[] = "MARGAY_WIRE_TCP=epoll";
  char other[] = "HOME=/x";
  char broken[] = "MARGAY_NOTHING";
  char empty[] = "MARGAY_WAIT=";
  char* environment[] = {wire, other, broken, empty, nullptr};
  const Options options = Options::from_environment(environment);
  CHECK(options.text("wire_tcp") == "epoll");
  CHECK(options.text("home", "none") == "none");
  CHECK_FALSE(options.has("nothing"));
  CHECK(options.has("wait"));
  CHECK(options.text("wait", "auto").empty());
  CHECK(Options::from_environment(nullptr).all().empty());
}

TEST_CASE("the last item in a list of pairs is used") {
  Options options;
  options.set("protocol", "long=puma,short_limit=512,long=rendezvous");
  CHECK(options.item("protocol", "long") == "rendezvous");
  CHECK(options.item("protocol", "short_limit") == "512");
  CHECK(options.item("protocol", "ready", "x") == "x");
  CHECK(options.item("method", "long", "ring") == "ring");
}

TEST_CASE("an invalid value of any variable is rejected") {
  const std::pair<const char*, const char*> bad[] = {{"strict", "yes"},
                                                     {"leaks", "on"},
                                                     {"check_types", "2"},
                                                     {"trace_walks", "true"},
                                                     {"check_rma", "on"},
                                                     {"wait", "sleep"},
                                                     {"wire_tcp", "fast"},
                                                     {"protocol", "long=short"},
                                                     {"protocol", "puma"},
                                                     {"method", "long=rma"},
                                                     {"method", "long=cma,x"},
                                                     {"rma", "strided=x"},
                                                     {"stall_seconds", "soon"},
                                                     {"stall_seconds", "-1s"},
                                                     {"stall_seconds", "inf"},
                                                     {"stall_seconds", "1e11"},
                                                     {"trace_last_seconds", "1e-10"},
                                                     {"trace_events", "no"},
                                                     {"heap_bytes", "1t"}};
  for (const auto& variable : bad) {
    const std::string name = variable.first;
    const std::string value = variable.second;
    CAPTURE(name);
    Options options;
    options.set(name, value);
    CHECK_FALSE(options.check().ok());
    CHECK(options.check().sentence().find(value) != std::string::npos);
  }
  Options options;
  options.set("leaks", "");
  options.set("strict", "0");
  options.set("wait", "yield");
  options.set("protocol", "long=rendezvous,short_limit=4k");
  options.set("method", "long=ring");
  options.set("rma", "strided=paper");
  options.set("stall_seconds", "0.5");
  options.set("trace_events", "64k");
  CHECK(options.check().ok());
  options.set("wait", "sleep");
  CHECK(options.check().sentence() == "MARGAY_WAIT: invalid value \"sleep\"; use spin|yield|auto");
}

TEST_CASE("sizes are parsed with their units, and invalid ones are rejected") {
  std::uint64_t bytes = 1;
  CHECK((parse_bytes("0", bytes) && bytes == 0));
  CHECK((parse_bytes("64k", bytes) && bytes == 65536));
  CHECK((parse_bytes("3M", bytes) && bytes == 3U << 20));
  CHECK((parse_bytes("18446744073709551615", bytes) && bytes == ~std::uint64_t{0}));
  bytes = 5;
  for (const char* bad : {"", "k", "-1", "1kb", "1.5m", " 1", "18446744073709551616", "17179869184g", "0x10"}) {
    CHECK_FALSE_MESSAGE(parse_bytes(bad, bytes), bad);
  }
  CHECK(bytes == 5);
  Options options;
  options.set("heap_bytes", "lots");
  CHECK(options.bytes("heap_bytes", bytes).sentence().find("MARGAY_HEAP_BYTES=lots") != std::string::npos);
  CHECK(options.bytes("ring_bytes", bytes).ok());
  CHECK(bytes == 5);
}
