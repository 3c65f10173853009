// Tests of the machine `loopback` with measured rates.
#include "command/simulate/calibrated_machine.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <string>

#include "virtual_machine/model/changes.hpp"
#include "virtual_machine/model/presets.hpp"

namespace margay::command {
namespace {

using collectives::Rates;

TEST_CASE("calibrated machine: a message takes its start-up time, and a part of it keeps both ends busy") {
  Rates usual = collectives::usual_rates();
  Rates slow = usual;
  slow.inside = {.startup = 440e-9, .busy = 160e-9, .byte = 2.3e-10};
  // Busy for more than the half of the start-up.
  slow.between = {.startup = 6.9e-6, .busy = 5.2e-6, .byte = 6e-10};
  for (const Rates& rates : {usual, slow}) {
    virtual_machine::Settings settings;
    virtual_machine::Machine machine;
    REQUIRE(virtual_machine::find_machine(std::string(kCalibratedMachine), machine).ok());
    for (const virtual_machine::Change& change : fields_for(rates)) {
      CAPTURE(change.name);
      REQUIRE(virtual_machine::apply_change(change, settings, machine).ok());
    }
    const double inside_ns = static_cast<double>(2 * machine.memory_overhead_ns + machine.memory_latency_ns);
    CHECK(inside_ns == doctest::Approx(rates.inside.startup * 1e9));
    CHECK(static_cast<double>(machine.memory_overhead_ns) ==
          doctest::Approx(std::min(rates.inside.busy, rates.inside.startup / 2) * 1e9));
    CHECK(machine.memory_bytes_per_s == doctest::Approx(1 / rates.inside.byte));
    const virtual_machine::Network& tcp = machine.networks.front();
    const std::uint64_t receive_ns = tcp.poll_ns + tcp.receive_overhead_ns;
    CHECK(static_cast<double>(tcp.send_overhead_ns + tcp.latency_ns + receive_ns) ==
          doctest::Approx(rates.between.startup * 1e9));
    CHECK(receive_ns == tcp.send_overhead_ns);
    CHECK(tcp.injection_bytes_per_s == doctest::Approx(1 / rates.between.byte));
    CHECK(tcp.ejection_bytes_per_s == tcp.injection_bytes_per_s);
  }
}

TEST_CASE("calibrated machine: the rates of the environment") {
  std::vector<virtual_machine::Change> fields;
  const struct {
    std::string rates;
    bool is_valid;
    bool has_fields;
  } cases[] = {{collectives::to_text(collectives::usual_rates()), true, true},
               {"usual", true, false},
               {"inside=1", false, false}};
  for (const auto& row : cases) {
    CAPTURE(row.rates);
    ::setenv("MARGAY_RATES", row.rates.c_str(), 1);
    CHECK(read_calibration(fields).ok() == row.is_valid);
    CHECK(fields.empty() != row.has_fields);
  }
  ::unsetenv("MARGAY_RATES");
}

}  // namespace
}  // namespace margay::command
