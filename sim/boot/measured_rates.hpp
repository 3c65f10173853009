// The file of a machine's rates, the costs of collective calls as `margay calibrate` measured them. A user or an
// installation has one for each machine; it is valid on that machine only. Here the rates are one token;
// collectives/select gives them meaning.
//
//   margay-rates 1
//   machine: Intel(R) Xeon(R) Processor, 2 processors, Linux 6.1, margay 0.1.0
//   date: 2026-03-01 12:30 UTC
//   unmeasured: between
//   rates: inside=3e-07:1.2e-07:9e-11,...
//   messages: inside=1.5e-07:7e-08:1.3e-10,...
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::sim {

// The longest file, and the longest text of rates. The text goes through PMI in hexadecimal digits, and a PMI value has
// at most 1,024 characters.
inline constexpr std::size_t kRatesFileBytesMax = 4096;
inline constexpr std::size_t kRatesTextMax = 384;

// The lines of such a file. Unknown lines of a file are ignored, so that a later version may add some.
struct MeasuredRates {
  std::string machine;
  std::string date;
  // Names of rates that have the usual value, or empty.
  std::string unmeasured;
  // Empty: none.
  std::string rates;
  // The same with the rates of single messages in place of those of the messages of collective calls, for `margay
  // simulate`. Empty: not measured.
  std::string messages;
};

// The identity of a machine for rates: the processors' model and number, Linux's version without its last number, and
// margay's own version, whose messages were measured. Linux's last number is left out, because the scheduler and the
// socket path change between series, not within one.
[[nodiscard]] std::string this_machine();

// The file's content.
[[nodiscard]] std::string rates_file_text(const MeasuredRates& measured);
// Parses such content. The failure's message is the end of a sentence.
[[nodiscard]] portals::Status parse_rates_file(std::string_view text, MeasuredRates& out);

// "rates-0123456789abcdef", a hash of the machine, because several machines may share a home or an installation.
[[nodiscard]] std::string rates_file_name(std::string_view machine);
// The paths of this machine's rates. The user's: below $XDG_CACHE_HOME, otherwise $HOME/.cache; empty: neither variable
// is an absolute path. The installation's: beside the folder from which this code was loaded (bin or lib); empty:
// unknown.
[[nodiscard]] std::string user_rates_file();
[[nodiscard]] std::string installed_rates_file();

// Reads and parses a file. The failure names the file.
[[nodiscard]] portals::Status read_rates_file(const std::string& path, MeasuredRates& out);
// Writes the file atomically: a reader sees the old file or the new one. Makes its folders. The failure names the path.
[[nodiscard]] portals::Status write_rates_file(const std::string& path, const MeasuredRates& measured);

}  // namespace margay::sim
