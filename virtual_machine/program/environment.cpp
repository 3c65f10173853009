#include "virtual_machine/program/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace margay::virtual_machine {
namespace {

[[nodiscard]] bool has_name(const char* entry, std::string_view name) {
  return std::strncmp(entry, name.data(), name.size()) == 0 && entry[name.size()] == '=';
}

}  // namespace

// `environ` is the process's array at first, and the program may assign it.
void Environment::adopt() {
  if (!entries_.empty() && environ == entries_.data()) return;
  std::vector<char*> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.push_back(*entry);
  entries.push_back(nullptr);
  entries_ = std::move(entries);
  environ = entries_.data();
}

void Environment::replace(std::string_view name, char* text) {
  const auto match = [&](const char* entry) { return entry != nullptr && has_name(entry, name); };
  const auto entry = std::find_if(entries_.begin(), entries_.end(), match);
  if (entry != entries_.end()) {
    *entry = text;
  } else {
    entries_.insert(entries_.end() - 1, text);
  }
  // The insertion may have moved the array.
  environ = entries_.data();
}

void Environment::set(std::string_view name, std::string_view value, bool overwrite) {
  adopt();
  const auto match = [&](const char* entry) { return entry != nullptr && has_name(entry, name); };
  if (!overwrite && std::any_of(entries_.begin(), entries_.end(), match)) return;
  auto text = std::make_unique_for_overwrite<char[]>(name.size() + value.size() + 2);
  char* end = std::copy(name.begin(), name.end(), text.get());
  *end++ = '=';
  *std::copy(value.begin(), value.end(), end) = '\0';
  replace(name, text.get());
  strings_.push_back(std::move(text));
}

void Environment::put(char* text) {
  const char* const equals = std::strchr(text, '=');
  if (equals == nullptr) {
    unset(text);
    return;
  }
  adopt();
  replace({text, static_cast<std::size_t>(equals - text)}, text);
}

void Environment::unset(std::string_view name) {
  adopt();
  std::erase_if(entries_, [&](const char* entry) { return entry != nullptr && has_name(entry, name); });
  environ = entries_.data();
}

void Environment::clear() {
  entries_.assign(1, nullptr);
  environ = entries_.data();
}

}  // namespace margay::virtual_machine
