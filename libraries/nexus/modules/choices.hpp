// The choices of a context's modules: their names, order, parameters, shared objects and forwarders. Their sources,
// later ones replacing earlier ones, are the build, the resource database (resources.hpp), the environment and the
// command line (arguments.hpp), and calls (paper 003, section 3.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace margay::nexus::core {

// The most letters of a module's or parameter's name, and of a value or path.
inline constexpr std::size_t kModuleNameMost = 31;
inline constexpr std::size_t kValueMost = 1023;
// The most modules of a context, and rows of each other sort.
inline constexpr std::size_t kModulesMost = 16;
inline constexpr std::size_t kChoicesMost = 256;
// The most contexts of a forwarder, and the greatest interval of polls.
inline constexpr std::size_t kForwardedMost = 65536;
inline constexpr std::uint32_t kSkipPollMost = 1000000;

// A value for a module's parameter, which the module checks.
struct ParameterChoice {
  std::string module;
  std::string name;
  std::string value;
  std::string where = {};  // its source, for errors, such as the name of a variable
};

// A module in a shared object outside of the library.
struct LoadChoice {
  std::string module;
  std::string path;
};

// The context that takes a method's messages for others, and passes them on.
struct ForwarderChoice {
  std::string module;
  std::uint32_t context = 0;
  std::vector<std::uint32_t> for_contexts;
};

// A module is polled at every n-th poll.
struct PollChoice {
  std::string module;
  std::uint32_t each = 1;
};

struct Choices {
  // In order of preference; nothing: as before.
  std::optional<std::vector<std::string>> modules;
  // Modules that go before the others, in this order; the others keep theirs. Nothing: as before.
  std::optional<std::vector<std::string>> order;
  std::vector<ParameterChoice> parameters;  // a later value replaces an earlier one
  std::vector<LoadChoice> loads;
  std::vector<ForwarderChoice> forwarders;
  std::vector<PollChoice> polls;
  // Transforms before every method that leaves the node; nothing: as before.
  std::optional<std::vector<std::string>> off_node;
};

// Adds `later` to `choices`; what it names replaces what `choices` names.
void add_choices(Choices& choices, const Choices& later);

// The final list of modules: those that are chosen, or `usual`; behind them transforms for links that leave the node,
// and loaded modules; then in the chosen order. Returns an error, such as for a name in `order` that is in none of
// these, or an empty string.
[[nodiscard]] std::string chosen_modules(const Choices& choices, const std::vector<std::string>& usual,
                                         std::vector<std::string>& out);

// Parses the value of one choice, whose words are separated already, and adds it to `choices`:
//
//   modules NAME ...    order NAME ...     off_node NAME ...   load NAME PATH
//   parameter MODULE.NAME VALUE            skip_poll MODULE N  forwarder MODULE CONTEXT CONTEXTS
//
// CONTEXTS is a list such as 0-3,7; `off_node none` removes all. Returns an error that names the word and the cure, or
// an empty string.
[[nodiscard]] std::string add_choice(std::string_view key, const std::vector<std::string>& words, Choices& choices);

// Sets the source of the choice that add_choice() has added.
void set_source(std::string_view key, const std::string& where, Choices& choices);

// The keys, as the end of a sentence.
[[nodiscard]] std::string choice_keys();

// A list of numbers and ranges, such as 0-3,7.
struct ContextRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
// Returns an error, or an empty string.
[[nodiscard]] std::string parse_contexts(std::string_view list, std::vector<ContextRange>& out);

}  // namespace margay::nexus::core
