// Tests that viewer/src/data/tables.js, by which the page reads its tables, equals the list by which they are written.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "command/trace/page/page_tables.hpp"

using namespace margay::command;

namespace {

std::string tables_path() {
  const std::string here = __FILE__;
  return here.substr(0, here.rfind("tests/command/")) + "viewer/src/data/tables.js";
}

std::string as_javascript() {
  std::string text =
      "// The page's tables: the columns' types and what stands for \"not known\". Made from\n"
      "// command/trace/page/page_tables.cpp: WRITE_DOCUMENTS=1 command_test -tc=\"the page's tables*\"\n"
      "export const kTables = {\n";
  for (const PageTable& table : page_tables()) {
    text += fmt::format("  {}: {{\n", table.name);
    for (const PageColumn& column : table.columns) {
      text += fmt::format("    {}: {{ type: '{}', missing: {} }},\n", column.name, column.type,
                          std::isnan(column.not_known) ? "NaN" : fmt::format("{}", column.not_known));
    }
    text += "  },\n";
  }
  return text + "};\n";
}

}  // namespace

TEST_CASE("the page's tables are those that are written") {
  const std::string made = as_javascript();
  if (std::getenv("WRITE_DOCUMENTS") != nullptr) std::ofstream(tables_path()) << made;
  std::ifstream stream(tables_path());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  CHECK_MESSAGE(text == made,
                "tables.js is older than page_tables.cpp: WRITE_DOCUMENTS=1 command_test -tc=\"the page's tables*\"");
}

TEST_CASE("a table of the page has each column once") {
  for (const PageTable& table : page_tables()) {
    CAPTURE(table.name);
    CHECK(page_table(table.name) == &table);
    std::set<std::string_view> names;
    for (const PageColumn& column : table.columns) CHECK(names.insert(column.name).second);
  }
  CHECK(page_table("no such table") == nullptr);
}
