// What collective calls cost on a machine, as `margay calibrate` measured it: a file of the user's or of the
// installation, kept for the machine that it was measured on. Here the rates are one word of text; what they mean is
// collectives/select's.
//
//   margay-rates 1
//   machine: Intel(R) Xeon(R) Processor, 2 processors, Linux 6.1, margay 0.1.0
//   date: 2026-03-01 12:30 UTC
//   unmeasured: between
//   rates: inside=3e-07:1.2e-07:9e-11,...
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::sim {

// Of a file, and of a text of rates: the latter goes through PMI, whose values have 1,024 characters at most, in
// hexadecimal digits.
inline constexpr std::size_t kRatesFileBytesMax = 4096;
inline constexpr std::size_t kRatesTextMax = 384;

struct MeasuredRates {
  std::string machine;
  std::string date;
  std::string unmeasured;  // the names of rates that are the usual ones all the same, or empty
  std::string rates;       // empty: none
};

// What makes a machine the same for rates: the processors' model and how many there are; Linux without its last number,
// as the scheduler and the way over sockets change between series, not within one; and margay's own version, whose
// messages were measured.
[[nodiscard]] std::string this_machine();

[[nodiscard]] std::string rates_file_text(const MeasuredRates& measured);
// Error: a sentence's end.
[[nodiscard]] portals::Status parse_rates_file(std::string_view text, MeasuredRates& out);

// "rates-0123456789abcdef", by the machine: a home or an installation may be shared by several.
[[nodiscard]] std::string rates_file_name(std::string_view machine);
// Where this machine's rates lie. The user's: below $XDG_CACHE_HOME, else $HOME/.cache; empty: there is neither. The
// installation's: beside the folder that this code was loaded from (bin or lib); empty: it cannot be told.
[[nodiscard]] std::string user_rates_file();
[[nodiscard]] std::string installed_rates_file();

// Error: a sentence that names the file.
[[nodiscard]] portals::Status read_rates_file(const std::string& path, MeasuredRates& out);
// Whole or not at all: a reader sees the old file or the new one. Makes its folders. Error: a sentence.
[[nodiscard]] portals::Status write_rates_file(const std::string& path, const MeasuredRates& measured);

}  // namespace margay::sim
