#include "libraries/nexus/modules/arguments.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace margay::nexus::core {
namespace {

constexpr std::string_view kArgumentPrefix = "--nexus-";

// The character between the words of an argument's value, or 0: the value is one word.
struct ArgumentForm {
  std::string_view name;
  char separator;
};

constexpr std::array<ArgumentForm, 9> kArgumentForms = {{{"modules", ','},
                                                         {"methods", ','},
                                                         {"order", ','},
                                                         {"off-node", ','},
                                                         {"load", '='},
                                                         {"parameter", '='},
                                                         {"skip-poll", '='},
                                                         {"forwarder", '='},
                                                         {"resources", 0}}};

// A list has as many words as separators and one more. A parameter's value and a path may have separators.
std::vector<std::string> split_value(const ArgumentForm& form, std::string_view value) {
  const bool is_pair = form.name == "load" || form.name == "parameter";
  std::vector<std::string> words;
  for (;;) {
    const std::size_t end = is_pair && !words.empty() ? std::string_view::npos : value.find(form.separator);
    words.emplace_back(value.substr(0, end));
    if (end == std::string_view::npos) return words;
    value.remove_prefix(end + 1);
  }
}

std::string add_argument(const ArgumentForm& form, std::string_view value, const std::string& where, Choices& choices,
                         std::string& resources) {
  if (value.empty()) return "the value is empty";
  if (value.size() > kValueMost) return "the value has more than 1023 characters; shorten it";
  if (form.separator == 0) {
    resources = value;
    return {};
  }
  std::string key(form.name == "methods" ? "modules" : form.name);
  std::replace(key.begin(), key.end(), '-', '_');
  std::string error = add_choice(key, split_value(form, value), choices);
  if (error.empty()) set_source(key, where, choices);
  return error;
}

}  // namespace

std::string take_arguments(std::vector<std::string>& words, Choices& choices, std::string& resources) {
  Choices read = choices;
  std::string file = resources;
  std::vector<std::string> others;
  std::size_t i = 0;
  for (; i < words.size() && words[i] != "--"; ++i) {
    const std::string_view argument = words[i];
    if (!argument.starts_with(kArgumentPrefix)) {
      others.push_back(words[i]);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string_view option = argument.substr(0, equals);
    const auto form = std::find_if(kArgumentForms.begin(), kArgumentForms.end(), [&](const ArgumentForm& one) {
      return one.name == option.substr(kArgumentPrefix.size());
    });
    if (form == kArgumentForms.end()) {
      return "unknown argument " + std::string(option.substr(0, 60)) + "; use --nexus-modules, -order, " +
             "-off-node, -load, -parameter, -skip-poll, -forwarder or -resources";
    }
    if (equals == std::string_view::npos && i + 1 >= words.size()) return std::string(option) + " needs a value";
    const std::string_view value = equals == std::string_view::npos ? words[++i] : argument.substr(equals + 1);
    if (const std::string error = add_argument(*form, value, std::string(option), read, file); !error.empty()) {
      return std::string(option) + ": " + error;
    }
  }
  others.insert(others.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  choices = std::move(read);
  resources = std::move(file);
  words = std::move(others);
  return {};
}

std::string take_variables(const char* (*read)(const char* name), Choices& choices, std::string& resources) {
  for (const ArgumentForm& form : kArgumentForms) {
    std::string name = "MARGAY_NEXUS_" + std::string(form.name);
    for (char& one : name) one = one == '-' ? '_' : one >= 'a' && one <= 'z' ? static_cast<char>(one - 'a' + 'A') : one;
    const char* const set = read(name.c_str());
    std::string_view rest = set == nullptr ? "" : set;
    while (!rest.empty()) {
      const std::size_t end = form.separator == 0 ? rest.size() : std::min(rest.find(';'), rest.size());
      if (const std::string error = add_argument(form, rest.substr(0, end), name, choices, resources); !error.empty()) {
        return name + "=" + std::string(rest.substr(0, std::min<std::size_t>(end, 60))) + ": " + error;
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

}  // namespace margay::nexus::core
