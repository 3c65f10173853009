#include "collectives/select/asked_for.hpp"

#include <algorithm>
#include <optional>

#include "collectives/algorithm/registry.hpp"

namespace margay::collectives {

namespace {

std::optional<Operation> operation_named(std::string_view text) {
  for (std::size_t at = 0; at < kOperationCount; ++at) {
    if (name(static_cast<Operation>(at)) == text) return static_cast<Operation>(at);
  }
  return std::nullopt;
}

}  // namespace

std::string algorithms_of(Operation operation) {
  std::string names;
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    if (!does(algorithm, operation)) continue;
    names += names.empty() ? "" : "|";
    names += name(algorithm);
  }
  return names;
}

portals::Status parse_asked_for(std::string_view text, AskedFor& out) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    const std::string_view asked = pair.substr(0, pair.find('='));
    const std::string_view behind = pair.size() > asked.size() ? pair.substr(asked.size() + 1) : "";
    const std::string_view how = behind.substr(0, behind.find(':'));
    const std::optional<Operation> of = operation_named(asked);
    const std::string words = "--collective " + std::string(pair) + ": ";
    if (!of || algorithms_of(*of).empty()) {
      std::string known;
      for (std::size_t at = 0; at < kOperationCount; ++at) {
        const auto one = static_cast<Operation>(at);
        if (!algorithms_of(one).empty()) known += (known.empty() ? "" : ", ") + std::string(name(one));
      }
      return portals::Status::error(words + "there is a choice for " + known);
    }
    std::optional<Algorithm>& chosen = out[static_cast<std::size_t>(*of)];
    chosen.reset();
    for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
      const auto algorithm = static_cast<Algorithm>(at);
      if (name(algorithm) == how && does(algorithm, *of)) chosen = algorithm;
    }
    const bool plans = how.size() < behind.size();
    if (!chosen || (plans && chosen != Algorithm::hybrid)) {
      chosen.reset();
      return portals::Status::error(words + "it is " + std::string(asked) + "=" + algorithms_of(*of));
    }
    AskedPlan& plan = out.plans[static_cast<std::size_t>(*of)] = {};
    if (!plans) continue;
    if (const portals::Status said = parse_plan(behind.substr(how.size() + 1), plan); !said.ok()) {
      return portals::Status::error(words + said.sentence());
    }
  }
  return {};
}

portals::Status parse_asked_rates(std::string_view text, Rates& out) {
  if (text == "paragon") {
    out = paragon_rates();
    return {};
  }
  if (text.empty() || text == "usual") {
    out = usual_rates();
    return {};
  }
  if (text.find('=') == std::string_view::npos) {
    return portals::Status::error(
        "--rates " + std::string(text) +
        ": it is usual, paragon, a file with a \"/\" in its name, or a text of rates, as `margay "
        "info --collectives` shows one");
  }
  return parse_rates(text, out);
}

Rates rates_of_job(std::string_view text) {
  Rates rates = usual_rates();
  static_cast<void>(parse_asked_rates(text, rates));
  return rates;
}

}  // namespace margay::collectives
