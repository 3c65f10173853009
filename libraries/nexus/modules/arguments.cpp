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

constexpr std::array<ArgumentForm, 6> kArgumentForms = {
    {{"modules", ','}, {"order", ','}, {"load", '='}, {"parameter", '='}, {"forwarder", '='}, {"resources", 0}}};

// A list has as many words as separators and one more; a pair is split at the first separator.
std::vector<std::string> split_value(std::string_view value, char separator) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t end = words.empty() || separator == ',' ? value.find(separator) : std::string_view::npos;
    words.emplace_back(value.substr(0, end));
    if (end == std::string_view::npos) return words;
    value.remove_prefix(end + 1);
  }
}

std::string add_argument(const ArgumentForm& form, std::string_view value, Choices& choices, std::string& resources) {
  if (value.empty()) return "the value is empty";
  if (value.size() > kValueMost) return "the value has more than 1023 characters";
  if (form.separator == 0) {
    resources = value;
    return {};
  }
  return add_choice(form.name, split_value(value, form.separator), choices);
}

}  // namespace

std::string take_arguments(int& argc, char** argv, Choices& choices, std::string& resources) {
  Choices read = choices;
  std::string file = resources;
  std::vector<char*> others;
  int i = std::min(argc, 1);
  for (; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with(kArgumentPrefix)) {
      others.push_back(argv[i]);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string_view option = argument.substr(0, equals);
    const auto form = std::find_if(kArgumentForms.begin(), kArgumentForms.end(), [&](const ArgumentForm& one) {
      return one.name == option.substr(kArgumentPrefix.size());
    });
    if (form == kArgumentForms.end()) {
      return "unknown argument " + std::string(option.substr(0, 60)) +
             "; there are --nexus-modules, -order, -load, -parameter, -forwarder and -resources";
    }
    if (equals == std::string_view::npos && i + 1 >= argc) return std::string(option) + " needs a value";
    const std::string_view value = equals == std::string_view::npos ? argv[++i] : argument.substr(equals + 1);
    if (const std::string error = add_argument(*form, value, read, file); !error.empty()) {
      return std::string(option) + ": " + error;
    }
  }
  others.insert(others.end(), argv + i, argv + argc);
  choices = std::move(read);
  resources = std::move(file);
  if (argc < 1) return {};
  argc = 1 + static_cast<int>(others.size());
  std::copy(others.begin(), others.end(), argv + 1);
  argv[argc] = nullptr;
  return {};
}

}  // namespace margay::nexus::core
