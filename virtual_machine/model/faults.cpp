#include "virtual_machine/model/faults.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "virtual_machine/model/changes.hpp"
#include "virtual_machine/model/fabric.hpp"

namespace margay::virtual_machine {
namespace {

using portals::Status;

bool take_number(std::string_view& text, std::uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

bool take(std::string_view& text, char expected) {
  const bool is_there = text.starts_with(expected);
  if (is_there) text.remove_prefix(1);
  return is_there;
}

// A time with its unit, to the end of the text.
bool read_time(std::string_view text, std::uint64_t& out_ns) {
  const std::optional<std::uint64_t> ns = time_of(text);
  out_ns = ns.value_or(0);
  return ns.has_value();
}

bool read(std::string_view text, Death& out) {
  return take_number(text, out.rank) && take(text, '@') && read_time(text, out.at_ns);
}

bool read(std::string_view text, DownLink& out) {
  if (!take_number(text, out.from) || !take(text, '-') || !take_number(text, out.to)) return false;
  return text.empty() || (take(text, '@') && read_time(text, out.at_ns));
}

bool has_link(const Fabric& fabric, const DownLink& down) {
  for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
    const Fabric::Ends ends = fabric.ends_of(link);
    if (fabric.has_link(link) && ends.from == down.from && ends.to == down.to) return true;
  }
  return false;
}

}  // namespace

Status parse_faults(const Settings& settings, const Machine& machine, Faults& out) {
  for (const std::string& text : settings.deaths) {
    Death& death = out.deaths.emplace_back();
    if (!read(text, death))
      return Status::error("option --kill: invalid value " + text + "; use RANK@TIME, such as 3@2ms");
    if (death.rank >= settings.ranks) {
      return Status::error("option --kill: invalid rank in " + text + "; use 0 to " +
                           std::to_string(settings.ranks - 1));
    }
  }
  std::ranges::stable_sort(out.deaths, {}, &Death::at_ns);
  const Fabric fabric(machine.networks.front(), nodes_for(machine, settings.ranks));
  for (const std::string& text : settings.down_links) {
    DownLink& down = out.down_links.emplace_back();
    if (!read(text, down)) {
      return Status::error("option --down: invalid value " + text +
                           "; use SWITCH-SWITCH, or SWITCH-SWITCH@TIME, such as 12-13@2ms");
    }
    if (!has_link(fabric, down)) {
      return Status::error("option --down: the network " + machine.networks.front().name + " of " + machine.name +
                           " has no link " + text.substr(0, text.find('@')) +
                           (fabric.link_count() == 0
                                ? "; its only switch has none"
                                : "; use two neighbours of its " + std::to_string(fabric.switch_count()) +
                                      " switches, which are numbered from 0 along x first"));
    }
  }
  return {};
}

}  // namespace margay::virtual_machine
