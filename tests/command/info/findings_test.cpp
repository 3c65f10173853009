// Tests of the table of findings: every id is unique, in kebab-case and explained; docs/findings.md equals the table.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "command/info/findings.hpp"

using namespace margay;
using namespace margay::command;

namespace {

bool is_kebab_case(std::string_view id) {
  const bool letters = std::ranges::all_of(id, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
  return letters && !id.empty() && id.front() != '-' && id.back() != '-' && id.find("--") == std::string_view::npos;
}

}  // namespace

TEST_CASE("findings: each has a unique id in kebab-case and all texts") {
  std::set<std::string_view> seen;
  for (std::uint32_t number = 0; number < sim::kFindingCount; ++number) {
    const FindingText& text = finding_texts()[number];
    const std::string_view id = sim::finding_id(static_cast<sim::Finding>(number));
    CAPTURE(id);
    CHECK(static_cast<std::uint32_t>(text.finding) == number);
    CHECK(is_kebab_case(id));
    CHECK(seen.insert(id).second);
    for (const std::string_view part : {text.title, text.meaning, text.example, text.cure}) CHECK_FALSE(part.empty());
    CHECK(text.title.back() != '.');
  }
}

TEST_CASE("findings: explain prints a section, a list, or the nearest id") {
  std::string text;
  CHECK(explain_finding("deadlock", text));
  CHECK(text.starts_with("deadlock (error): "));
  CHECK(text.find("\nCure: ") != std::string::npos);
  CHECK(explain_finding("", text));
  CHECK(std::ranges::count(text, '\n') == sim::kFindingCount);
  CHECK_FALSE(explain_finding("dead-lock", text));
  CHECK(text.find("did you mean deadlock?") != std::string::npos);
}

// With WRITE_DOCUMENTS in the environment the document is written.
TEST_CASE("docs/findings.md is made from the table of findings") {
  const std::string here = __FILE__;
  const std::string path = here.substr(0, here.rfind("tests/command/")) + "docs/findings.md";
  if (std::getenv("WRITE_DOCUMENTS") != nullptr) std::ofstream(path) << findings_document();
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  CHECK_MESSAGE(text.str() == findings_document(),
                "docs/findings.md differs from its table: WRITE_DOCUMENTS=1 command_test -tc=\"docs/findings.md*\"");
}
