#include "collectives/cost/rates.hpp"

#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <vector>

namespace margay::collectives {

namespace {

// The values of one name in the text, in their order.
struct NamedRates {
  std::string_view name;
  std::vector<double*> values;
};

// One table for formatting and parsing, so that they cannot differ.
std::array<NamedRates, 5> named_rates(Rates& rates) {
  const auto message = [](Rates::Message& of) { return std::vector<double*>{&of.startup, &of.busy, &of.byte}; };
  return {{{"inside", message(rates.inside)},
           {"between", message(rates.between)},
           {"combined", {&rates.combined}},
           {"shared", {&rates.shared.poll, &rates.shared.byte}},
           {"turn", {&rates.turn}}}};
}

// The shortest form that parses to the same number.
std::string rate_text(double value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

// Removes and returns the text up to `separator`, and removes the separator.
std::string_view take_word(std::string_view& text, char separator) {
  const std::string_view word = text.substr(0, text.find(separator));
  text.remove_prefix(word.size() < text.size() ? word.size() + 1 : word.size());
  return word;
}

std::optional<double> seconds_in(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  if (!whole || !is_rate(value)) return std::nullopt;
  return value;
}

portals::Status wrong_rates(std::string_view word, const std::string& why) {
  return portals::Status::error("rates of collectives: '" + std::string(word) + "': " + why);
}

}  // namespace

// As published for SUNMOS, Puma's forerunner on that machine (the paper has no rates): 25 µs from program to program,
// 160 MB/s. An i860 adds doubles from memory at about 10 million a second. Shared memory and turns have an i860's
// rates, which no cost uses, because each rank has a node of its own.
Rates paragon_rates() {
  constexpr Rates::Message kMesh{.startup = 25e-6, .busy = 10e-6, .byte = 1 / 160e6};
  return {.inside = kMesh,
          .between = kMesh,
          .combined = 1 / 80e6,
          .shared = {.poll = 1e-6, .byte = 1 / 80e6},
          .turn = 50e-6};
}

std::string to_text(const Rates& rates) {
  Rates copy = rates;
  std::string text;
  for (const NamedRates& one : named_rates(copy)) {
    text += (text.empty() ? "" : ",") + std::string(one.name);
    char before = '=';
    for (const double* value : one.values) {
      text += before + rate_text(*value);
      before = ':';
    }
  }
  return text;
}

portals::Status parse_rates(std::string_view text, Rates& out) {
  Rates read{};
  std::array<NamedRates, 5> all = named_rates(read);
  while (!text.empty()) {
    const std::string_view pair = take_word(text, ',');
    std::string_view values = pair;
    const std::string_view name = take_word(values, '=');
    NamedRates* found = nullptr;
    for (NamedRates& one : all) found = one.name == name ? &one : found;
    if (found == nullptr) return wrong_rates(pair, "the names are inside, between, combined, shared and turn");
    // 0 marks a value that was not read yet: it is not a valid rate.
    if (*found->values.front() != 0) return wrong_rates(pair, "it occurs twice");
    for (double* const value : found->values) {
      const std::optional<double> seconds = seconds_in(take_word(values, ':'));
      if (!seconds) {
        return wrong_rates(pair, "it takes " + std::to_string(found->values.size()) +
                                     " numbers of seconds, each from " + rate_text(kRateLeast) + " to " +
                                     rate_text(kRateMost) + ", with ':' between them");
      }
      *value = *seconds;
    }
    if (!values.empty()) return wrong_rates(pair, "'" + std::string(values) + "' is one number too many");
  }
  for (const NamedRates& one : all) {
    if (*one.values.front() == 0) return wrong_rates(one.name, "it is missing");
  }
  out = read;
  return {};
}

}  // namespace margay::collectives
