#include "libraries/nexus/modules/choices.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace margay::nexus::core {
namespace {

bool is_module_name(std::string_view name) {
  return !name.empty() && name.size() <= kModuleNameMost && std::all_of(name.begin(), name.end(), [](char one) {
    return (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') || one == '_' || one == '-';
  });
}

std::string invalid_name(std::string_view name) {
  return "invalid name '" + std::string(name.substr(0, 2 * kModuleNameMost)) +
         "'; a name has 1 to 31 small letters, digits, '_' and '-'";
}

std::string add_names(const std::vector<std::string>& words, std::optional<std::vector<std::string>>& out) {
  if (words.empty()) return "no names follow; name modules, such as local shm tcp";
  if (words.size() > kModulesMost) return "more than 16 modules";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_module_name(words[i])) return invalid_name(words[i]);
    if (std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i), words[i]) !=
        words.begin() + static_cast<std::ptrdiff_t>(i)) {
      return "the module " + words[i] + " is named twice";
    }
  }
  out = words;
  return {};
}

std::string add_load(const std::vector<std::string>& words, Choices& choices) {
  if (words.size() != 2) return "load needs a name and a path, such as load fifo /opt/lib/fifo.so";
  if (!is_module_name(words[0])) return invalid_name(words[0]);
  if (words[1].size() > kValueMost) return "the path has more than 1023 characters";
  // Otherwise dlopen() would search the system's folders.
  if (words[1].find('/') == std::string::npos) return "the path " + words[1] + " has no '/'; write ./" + words[1];
  std::erase_if(choices.loads, [&](const LoadChoice& one) { return one.module == words[0]; });
  choices.loads.push_back({words[0], words[1]});
  return {};
}

std::string add_parameter(const std::vector<std::string>& words, Choices& choices) {
  const std::size_t dot = words.empty() ? std::string::npos : words[0].find('.');
  if (words.size() != 2 || dot == std::string::npos) {
    return "parameter needs MODULE.NAME and a value, such as parameter udp.linger_ms 20";
  }
  const std::string module = words[0].substr(0, dot);
  const std::string name = words[0].substr(dot + 1);
  if (!is_module_name(module)) return invalid_name(module);
  if (!is_module_name(name)) return invalid_name(name);
  if (words[1].size() > kValueMost) return "the value of " + words[0] + " has more than 1023 characters";
  std::erase_if(choices.parameters,
                [&](const ParameterChoice& one) { return one.module == module && one.name == name; });
  choices.parameters.push_back({module, name, words[1]});
  return {};
}

bool parse_context(std::string_view word, std::uint32_t& out) {
  const auto [at, code] = std::from_chars(word.data(), word.data() + word.size(), out);
  return code == std::errc() && at == word.data() + word.size();
}

std::string add_forwarder(const std::vector<std::string>& words, Choices& choices) {
  if (words.size() != 3) return "forwarder needs a module, a context and contexts, such as forwarder tcp 0 1-3";
  if (!is_module_name(words[0])) return invalid_name(words[0]);
  ForwarderChoice choice{words[0], 0, {}};
  if (!parse_context(words[1], choice.context)) {
    return "invalid context '" + words[1].substr(0, 40) + "'; it is a number from 0";
  }
  std::vector<ContextRange> ranges;
  if (std::string error = parse_contexts(words[2], ranges); !error.empty()) return error;
  for (const ContextRange one : ranges) {
    if (std::uint64_t{one.last} - one.first >= kForwardedMost - choice.for_contexts.size()) {
      return "a forwarder has more than 65536 contexts";
    }
    for (std::uint64_t context = one.first; context <= one.last; ++context) {
      choice.for_contexts.push_back(static_cast<std::uint32_t>(context));
    }
  }
  std::erase_if(choices.forwarders, [&](const ForwarderChoice& one) {
    return one.module == choice.module && one.context == choice.context;
  });
  choices.forwarders.push_back(std::move(choice));
  return {};
}

std::string add_poll(const std::vector<std::string>& words, Choices& choices) {
  std::uint32_t each = 0;
  if (words.size() != 2 || !is_module_name(words[0]) || !parse_context(words[1], each) || each == 0 ||
      each > kSkipPollMost) {
    return "skip_poll needs a module and a number from 1 to 1000000, such as skip_poll tcp 20";
  }
  std::erase_if(choices.polls, [&](const PollChoice& one) { return one.module == words[0]; });
  choices.polls.push_back({words[0], each});
  return {};
}

}  // namespace

std::string add_choice(std::string_view key, const std::vector<std::string>& words, Choices& choices) {
  const std::size_t rows =
      choices.parameters.size() + choices.loads.size() + choices.forwarders.size() + choices.polls.size();
  if (rows >= kChoicesMost) return "more than 256 parameters, loaded modules, intervals and forwarders";
  if (key == "modules") return add_names(words, choices.modules);
  if (key == "order") return add_names(words, choices.order);
  if (key == "load") return add_load(words, choices);
  if (key == "parameter") return add_parameter(words, choices);
  if (key == "forwarder") return add_forwarder(words, choices);
  if (key == "skip_poll") return add_poll(words, choices);
  if (key == "off_node" && words.size() == 1 && words[0] == "none") {
    choices.off_node.emplace();
    return {};
  }
  if (key == "off_node") return add_names(words, choices.off_node);
  return "unknown key '" + std::string(key.substr(0, 40)) + "'; keys are " + choice_keys();
}

void set_source(std::string_view key, const std::string& where, Choices& choices) {
  if (key == "parameter") choices.parameters.back().where = where;
}

std::string choice_keys() {
  return "modules, order, off_node, load, parameter, skip_poll and forwarder";
}

std::string parse_contexts(std::string_view list, std::vector<ContextRange>& out) {
  for (;;) {
    const std::string_view item = list.substr(0, list.find(','));
    const std::size_t dash = item.find('-');
    ContextRange range;
    const bool valid = parse_context(item.substr(0, dash), range.first) &&
                       parse_context(dash == std::string_view::npos ? item : item.substr(dash + 1), range.last);
    if (!valid || range.last < range.first) {
      return "invalid contexts '" + std::string(item.substr(0, 40)) + "'; write numbers and ranges, such as 0-3,7";
    }
    out.push_back(range);
    if (item.size() == list.size()) return {};
    list.remove_prefix(item.size() + 1);
  }
}

void add_choices(Choices& choices, const Choices& later) {
  if (later.modules) choices.modules = later.modules;
  if (later.order) choices.order = later.order;
  if (later.off_node) choices.off_node = later.off_node;
  // The words are valid, so each call succeeds, unless there are too many; the first ones then stay.
  for (const ParameterChoice& one : later.parameters) {
    if (add_choice("parameter", {one.module + "." + one.name, one.value}, choices).empty())
      set_source("parameter", one.where, choices);
  }
  for (const LoadChoice& one : later.loads) static_cast<void>(add_choice("load", {one.module, one.path}, choices));
  for (const PollChoice& one : later.polls) {
    static_cast<void>(add_choice("skip_poll", {one.module, std::to_string(one.each)}, choices));
  }
  for (const ForwarderChoice& one : later.forwarders) {
    std::erase_if(choices.forwarders, [&](const ForwarderChoice& other) {
      return one.module == other.module && one.context == other.context;
    });
    choices.forwarders.push_back(one);
  }
}

std::string chosen_modules(const Choices& choices, const std::vector<std::string>& usual,
                           std::vector<std::string>& out) {
  out = choices.modules.value_or(usual);
  const auto add = [&out](const std::string& name) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  };
  for (const std::string& one : choices.off_node.value_or(std::vector<std::string>())) add(one);
  for (const LoadChoice& one : choices.loads) add(one.module);
  if (out.size() > kModulesMost) return "the context has more than 16 modules";
  std::size_t place = 0;
  for (const std::string& name : choices.order.value_or(std::vector<std::string>())) {
    const auto found = std::find(out.begin(), out.end(), name);
    if (found == out.end()) {
      return "the order names the module " + name + ", which the context does not have; add it to the modules";
    }
    std::rotate(out.begin() + static_cast<std::ptrdiff_t>(place), found, found + 1);
    ++place;
  }
  return {};
}

}  // namespace margay::nexus::core
