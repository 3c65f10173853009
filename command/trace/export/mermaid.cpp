#include <fmt/format.h>

#include <string>
#include <string_view>

#include "command/trace/export/exports.hpp"

namespace margay::command {

namespace {

// Escapes Mermaid's special characters: a semicolon ends a statement, a hash begins an escape, angle brackets are
// markup.
std::string mermaid_text(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == ';' || letter == '#' || letter == '<' || letter == '>' || letter == '"' || letter == '%') {
      escaped += fmt::format("#{};", static_cast<int>(letter));
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

}  // namespace

// Ranks are declared first, which fixes their order.
void write_mermaid(const Chart& chart, std::ostream& out) {
  out << "sequenceDiagram\n";
  for (const std::uint32_t rank : chart.ranks) out << fmt::format("    participant r{} as rank {}\n", rank, rank);
  for (const ChartStep& step : chart.steps) {
    const std::string text = mermaid_text(fmt::format("{} us: {}", step.time_us, step.text));
    if (step.is_arrow) {
      // In Mermaid's notation a cross ends an arrow that does not arrive, and a dotted line is an answer.
      const std::string_view arrow = step.is_lost ? (step.is_answer ? "--x" : "-x") : (step.is_answer ? "-->>" : "->>");
      out << fmt::format("    r{}{}r{}: {}\n", step.from, arrow, step.to, text);
    } else {
      out << fmt::format("    Note over r{}: {}\n", step.from, text);
    }
  }
}

namespace {

std::string msc_text(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    // The label is in quotation marks, so quotation marks in the text are escaped.
    if (letter == '"') escaped += '\\';
    // A backslash is the language's escape character, so a slash replaces it.
    escaped += letter == '\\' ? '/' : letter;
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
