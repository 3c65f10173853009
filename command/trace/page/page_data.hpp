// What the page of `margay trace view` is given: tables of numbers by columns, and texts. Written into the page as one
// JSON object and blobs, each a script element that the page's own script reads (viewer/README.md has the format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "command/trace/page/packed.hpp"
#include "command/trace/page/page_tables.hpp"

namespace margay::command {

// Every text once: columns hold its number. Number 0 is the empty one.
class PageStrings {
 public:
  PageStrings() { static_cast<void>(number("")); }
  [[nodiscard]] std::uint32_t number(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

 private:
  struct Hash {  // looks a view up without a string made of it
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

class PageData {
 public:
  // One table of page_tables(): its columns, each once and in the list's order; all have as many rows.
  class Table {
   public:
    Table(PageData& data, std::string_view name, std::size_t rows);
    Table& column(std::string_view name, const std::vector<std::uint8_t>& values) { return add(name, "u8", values); }
    Table& column(std::string_view name, const std::vector<std::uint32_t>& values) { return add(name, "u32", values); }
    Table& column(std::string_view name, const std::vector<std::int32_t>& values) { return add(name, "i32", values); }
    Table& column(std::string_view name, const std::vector<double>& values) { return add(name, "f64", values); }
    // Without it the table is not in the page. Requires: no column is missing.
    void done();

   private:
    template <typename Number>
    Table& add(std::string_view name, std::string_view type, const std::vector<Number>& values) {
      add_bytes(name, type, values.size(), std::as_bytes(std::span(values)));
      return *this;
    }
    void add_bytes(std::string_view name, std::string_view type, std::size_t rows, std::span<const std::byte> bytes);
    PageData& data_;
    const PageTable* table_;
    std::size_t rows_;
    std::size_t written_ = 0;  // columns
    std::string columns_;      // as JSON
  };

  [[nodiscard]] PageStrings& strings() { return strings_; }
  [[nodiscard]] Table table(std::string_view name, std::size_t rows) { return {*this, name, rows}; }
  // Another member of the head. `json`: its value.
  void member(std::string_view name, std::string json);
  // Its number.
  std::size_t add_blob(std::span<const std::byte> bytes) { return blobs_.add(bytes); }
  // The same of a text that is made on another thread, until write() at the latest.
  std::size_t add_blob(std::function<std::string()> make) { return blobs_.add(std::move(make)); }
  // The script elements.
  void write(std::ostream& out);

 private:
  PageStrings strings_;
  PackedBlobs blobs_;
  std::string tables_;   // members of "tables", as JSON
  std::string members_;  // other members of the head, as JSON
};

// As a JSON string that may stand in a script element.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace margay::command
