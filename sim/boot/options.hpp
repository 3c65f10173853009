// The options of a run as every rank has them: each MARGAY_* variable of the environment, its name in lower case
// without the prefix (MARGAY_WIRE_TCP=epoll is "wire_tcp" = "epoll"). `margay run` translates its own options
// (`--wire-tcp epoll`) into these variables, so another launcher can set the same ones.
//
// Names in use:  protocol ("long=rendezvous,short_limit=1024")  wire_tcp (uring|epoll|auto)  method ("long=cma|ring")
//                collective ("bcast=bucket,allreduce=tree")  rates (usual|paragon|"inside=...", or a file, with a "/":
//                sim/boot/job_rates)
//                rma ("strided=combined|paper")  trace (folder)  trace_events (events a rank)  trace_last_seconds
//                forward (node)  skip_poll ("tcp=20,shm=1": sim/base/poll_setting)  heap_bytes  wait (spin|yield|auto)
//                iface stall_seconds initial_errhandler (mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return)
//                leaks, check_types, check_rma, trace_walks ("1"); strict ("1": enables the checks, and makes their
//                findings errors)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::sim {

// The exit status of a job, or of a process without `margay run`, that succeeded except for findings of strict checks.
inline constexpr int kStatusFindings = 72;

// A table of option values by name. Read at start. A value is parsed at each request, so code on the path of a message
// must not read options.
class Options {
 public:
  Options() = default;
  // Reads the variables of an environment block (in the form of `environ`; null is an empty one).
  [[nodiscard]] static Options from_environment(char** environment);

  // A message for each MARGAY_ variable that margay does not have and that resembles one of its own.
  [[nodiscard]] std::vector<std::string> misspelt() const;

  // Checks the variables that have a fixed set of words, a time or a size as their value. Code that reads the other
  // ones checks them. An empty value counts as not set, except for sizes.
  [[nodiscard]] portals::Status check() const;

  // Sets a value, over an earlier one.
  void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }
  [[nodiscard]] bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  // The value, or `otherwise` when the option is not set.
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise = "") const;
  // One item of a comma-separated list of pairs: item("protocol", "long") of "long=puma,short_limit=512" is "puma". If
  // a key occurs twice, its last value counts.
  [[nodiscard]] std::string item(std::string_view name, std::string_view key, std::string_view otherwise = "") const;
  // A size: a number with an optional suffix k, m, g (powers of 1,024). `out` keeps its value when the option is not
  // set. Fails when the option has another form.
  [[nodiscard]] portals::Status bytes(std::string_view name, std::uint64_t& out) const;
  // A time in seconds, as nanoseconds; `otherwise` when the option is not set or not positive.
  [[nodiscard]] std::uint64_t seconds_ns(std::string_view name, std::uint64_t otherwise) const;
  // All options, by name.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& all() const { return values_; }

 private:
  // The values by name, in lower case; sorted, so that reports list options in one order.
  std::map<std::string, std::string, std::less<>> values_;
};

// Parses "4096", "64k", "1m", "2g"; false on anything else, on overflow and on an empty text.
[[nodiscard]] bool parse_bytes(std::string_view text, std::uint64_t& bytes);

}  // namespace margay::sim
