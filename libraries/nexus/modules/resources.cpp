#include "libraries/nexus/modules/resources.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace margay::nexus::core {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

// Whether the words before the colon name this context. Returns an error, or an empty string.
std::string find_place(const std::vector<std::string>& words, std::uint32_t context, std::string_view host,
                       bool& applies) {
  applies = true;
  if (words.size() == 1 && words[0] == "*") return {};
  if (words.empty() || words.size() % 2 != 0 || words.size() > 4) {
    return "before the colon there must be *, context NUMBERS, host PATTERN, or both";
  }
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (i == 2 && words[0] == words[2]) return words[0] + " is named twice before the colon";
    if (words[i] == "context") {
      std::vector<ContextRange> ranges;
      if (std::string error = parse_contexts(words[i + 1], ranges); !error.empty()) return error;
      applies = applies && std::any_of(ranges.begin(), ranges.end(), [&](const ContextRange& one) {
                  return one.first <= context && context <= one.last;
                });
    } else if (words[i] == "host") {
      applies = applies && matches_pattern(words[i + 1], host);
    } else {
      return "'" + words[i].substr(0, 40) + "' before the colon is neither context nor host";
    }
  }
  return {};
}

// One line without its end. Returns an error, or an empty string.
std::string parse_line(std::string_view line, const std::string& where, std::uint32_t context, std::string_view host,
                       Choices& choices) {
  if (line.size() > kResourceLineMost) return "the line has more than 4096 bytes";
  if (line.find('\0') != std::string_view::npos) return "the line has a zero byte; the file is not text";
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] == '#') return {};
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos)
    return "the line has no colon; write WHERE: KEY VALUE, such as *: modules local tcp";
  bool applies = false;
  if (std::string error = find_place(words_of(line.substr(0, colon)), context, host, applies); !error.empty()) {
    return error;
  }
  std::vector<std::string> words = words_of(line.substr(colon + 1));
  if (words.empty()) return "no key follows the colon; keys are " + choice_keys();
  const std::string key = words.front();
  words.erase(words.begin());
  Choices others;
  Choices& changed = applies ? choices : others;
  std::string error = add_choice(key, words, changed);
  if (error.empty()) set_source(key, where, changed);
  return error;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  std::size_t i = 0;
  // After a mismatch the latest star takes one more character; earlier stars need not be tried again.
  while (i < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      retry = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::string parse_resources(std::string_view text, std::uint32_t context, std::string_view host, Choices& choices) {
  if (text.size() > kResourcesMost) return "the file has more than 1 MiB";
  Choices read = choices;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string where = "line " + std::to_string(number);
    if (const std::string error = parse_line(text.substr(0, end), where, context, host, read); !error.empty()) {
      return where + ": " + error;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  choices = std::move(read);
  return {};
}

std::string read_resources(const std::string& path, std::uint32_t context, std::string_view host, Choices& choices) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return "cannot open the resource file " + path + ": " + std::strerror(errno);
  // A FIFO would be waited for.
  if (!S_ISREG(found.st_mode)) return "the resource file " + path + " is not a regular file";
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return "cannot open the resource file " + path + ": " + std::strerror(errno);
  std::string text(kResourcesMost + 1, '\0');
  const std::size_t bytes = std::fread(text.data(), 1, text.size(), file);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return "cannot read the resource file " + path;
  text.resize(bytes);
  const std::string error = parse_resources(text, context, host, choices);
  for (ParameterChoice& one : choices.parameters) {
    if (one.where.starts_with("line ")) one.where += " of the resource file " + path;
  }
  return error.empty() ? error : "the resource file " + path + ": " + error;
}

}  // namespace margay::nexus::core
