#include "command/trace/page/page_data.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "portals/base/assert.hpp"

namespace margay::command {

// Two hash operations for a new text, one for a known one.
std::uint32_t PageStrings::number(std::string_view text) {
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  numbers_.emplace(text, number);
  return number;
}

std::string in_script(std::string json) {
  // "<" could end the element or begin a comment, so it is escaped; JSON has it in strings only.
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos; at += 6) json.replace(at, 1, "\\u003c");
  return json;
}

std::string json_text(std::string_view text) {
  return in_script(nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

PageData::Table::Table(PageData& data, std::string_view name, std::size_t rows)
    : data_(data), table_(page_table(name)), rows_(rows) {
  MARGAY_ASSERT(table_ != nullptr);
}

void PageData::Table::add_bytes(std::string_view name, std::string_view type, std::size_t rows,
                                std::span<const std::byte> bytes) {
  // The page's script reads by the schema in page_tables.cpp. A writer that departs from it is a mistake in this
  // program, whatever the trace contains, so it is asserted and not reported as an error.
  MARGAY_ASSERT(rows == rows_);
  MARGAY_ASSERT(written_ < table_->columns.size());
  const PageColumn& column = table_->columns[written_++];
  MARGAY_ASSERT(column.name == name && column.type == type);
  columns_ += fmt::format(R"({}{}:{{"type":"{}","blob":{}}})", columns_.empty() ? "" : ",", json_text(name), type,
                          data_.add_blob(bytes));
}

void PageData::Table::done() {
  MARGAY_ASSERT(written_ == table_->columns.size());
  data_.tables_ += fmt::format(R"({}{}:{{"rows":{},"columns":{{{}}}}})", data_.tables_.empty() ? "" : ",",
                               json_text(table_->name), rows_, columns_);
}

void PageData::member(std::string_view name, std::string json) {
  members_ += fmt::format(",{}:{}", json_text(name), json);
}

// Texts come last: the tables' writers add to them until the end.
void PageData::write(std::ostream& out) {
  std::string strings;
  for (const std::string& text : strings_.all()) strings += (strings.empty() ? "" : ",") + json_text(text);
  const std::string list = "[" + strings + "]";
  out << R"(<script type="application/json" id="margay-head">{"format":2,"strings_blob":)" << blobs_.size()
      << R"(,"tables":{)" << tables_ << "}" << members_ << "}</script>\n";
  const auto blob = [&](std::size_t number, const std::string& text) {
    out << R"(<script type="text/plain" id="margay-blob-)" << number << "\">" << text << "</script>\n";
  };
  for (std::size_t number = 0; number < blobs_.size(); ++number) blob(number, blobs_.at(number));
  blob(blobs_.size(), packed(std::as_bytes(std::span(list))));
}

}  // namespace margay::command
