#include "collectives/select/asked_rates.hpp"

namespace margay::collectives {

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
