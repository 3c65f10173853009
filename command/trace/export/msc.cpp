#include "command/trace/export/msc.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace margay::command {

namespace {

std::string msc_text(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '"') escaped += '\\';
    escaped += letter == '\\' ? '/' : letter;  // a backslash is the language's own
  }
  return escaped;
}

}  // namespace

void write_msc(const Chart& chart, std::ostream& out) {
  out << "msc {\n  hscale=\"2\", wordwraparcs=\"1\";\n  ";
  std::string_view separator;
  for (const std::uint32_t rank : chart.ranks) {
    out << separator << fmt::format("r{} [label=\"rank {}\"]", rank, rank);
    separator = ", ";
  }
  out << ";\n";
  for (const ChartStep& step : chart.steps) {
    const std::string text = msc_text(fmt::format("{} us: {}", step.time_us, step.text));
    const std::string_view arrow = !step.is_arrow ? "note" : step.is_lost ? "-x" : step.is_answer ? ">>" : "=>";
    out << fmt::format("  r{} {} r{} [label=\"{}\"];\n", step.from, arrow, step.to, text);
  }
  out << "}\n";
}

}  // namespace margay::command
