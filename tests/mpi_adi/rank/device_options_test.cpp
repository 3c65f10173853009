#include "mpi_adi/rank/device_options.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "sim/base/limits.hpp"

using margay::mpi_adi::device_options;
using margay::mpi_adi::DeviceOptions;
using margay::portals::Status;
namespace sim = margay::sim;

TEST_CASE("without options of a run a device has its defaults") {
  DeviceOptions out;
  CHECK(device_options(sim::Options(), out).ok());
  CHECK(out.long_protocol == DeviceOptions::LongProtocol::puma);
  CHECK_FALSE(out.a_message_a_block);
  CHECK(out.heap_bytes == 0);
  CHECK(out.short_limit_shm == 0);
  CHECK(out.short_limit_tcp == 0);
  CHECK(out.short_limit_virtual == 0);
}

TEST_CASE("a device's options are read from those of a run") {
  sim::Options options;
  options.set("protocol", "long=rendezvous,short_limit=2k");
  options.set("rma", "strided=paper");
  options.set("heap_bytes", "1m");
  DeviceOptions out;
  CHECK(device_options(options, out).ok());
  CHECK(out.long_protocol == DeviceOptions::LongProtocol::rendezvous);
  CHECK(out.a_message_a_block);
  CHECK(out.heap_bytes == 1 << 20);
  CHECK(out.short_limit_shm == 2048);
  CHECK(out.short_limit_tcp == 2048);
  CHECK(out.short_limit_virtual == 0);
}

TEST_CASE("the bounds of the short limit and of the heap are valid") {
  sim::Options options;
  options.set("heap_bytes", std::to_string(sim::kHeapBytesMin));
  for (const std::uint64_t limit : {std::uint64_t{1}, sim::short_limit_max(sim::kHeapBytesMin)}) {
    CAPTURE(limit);
    options.set("protocol", "short_limit=" + std::to_string(limit));
    DeviceOptions out;
    CHECK(device_options(options, out).ok());
    CHECK(out.short_limit_shm == limit);
  }
}

TEST_CASE("an invalid option of a device is an error that names the option and its value") {
  struct Row {
    std::string_view option;
    std::string value;
    std::string_view named;
  };
  const Row kRows[] = {
      {"protocol", "long=short", "--protocol long=short: "},
      {"protocol", "short_limit=few", "--protocol short_limit=few "},
      {"protocol", "short_limit=0", "--protocol short_limit=0 "},
      // Above a quarter of the default heap.
      {"protocol", "short_limit=" + std::to_string(sim::short_limit_max(sim::kHeapBytes) + 1),
       "--protocol short_limit="},
      {"rma", "strided=rows", "--rma strided=rows: "},
      {"heap_bytes", std::to_string(sim::kHeapBytesMin - 1), "MARGAY_HEAP_BYTES="},
      {"heap_bytes", "0", "MARGAY_HEAP_BYTES=0: "},
      {"heap_bytes", "much", "much"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.value);
    sim::Options options;
    options.set(std::string(row.option), row.value);
    DeviceOptions out;
    const Status status = device_options(options, out);
    REQUIRE_FALSE(status.ok());
    CHECK(status.sentence().find(row.named) != std::string::npos);
  }
}

TEST_CASE("the bound of the short limit follows the heap of the same run") {
  sim::Options options;
  options.set("heap_bytes", "64k");
  options.set("protocol", "short_limit=64k");
  DeviceOptions out;
  CHECK_FALSE(device_options(options, out).ok());
}
