// The data of the page of `margay trace view`: tables of numbers by columns, and texts.
// Written as one JSON object and blobs, each a script element that the page's script reads (viewer/README.md has the
// format).
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

// A table of texts, each once; columns contain their numbers. Number 0 is the empty text.
class PageStrings {
 public:
  PageStrings() { static_cast<void>(number("")); }
  // The text's number, a new one at its first use.
  [[nodiscard]] std::uint32_t number(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

 private:
  // Allows a lookup by string_view without a temporary string.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

// Collects tables, texts and other members, and writes them at the end.
class PageData {
 public:
  // Writer of one table of page_tables(). Requires: the columns are added once each, in the list's order, with `rows`
  // elements; violations are assertions.
  class Table {
   public:
    Table(PageData& data, std::string_view name, std::size_t rows);
    // Packs a column on another thread; the values are copied.
    Table& column(std::string_view name, const std::vector<std::uint8_t>& values) { return add(name, "u8", values); }
    Table& column(std::string_view name, const std::vector<std::uint32_t>& values) { return add(name, "u32", values); }
    Table& column(std::string_view name, const std::vector<std::int32_t>& values) { return add(name, "i32", values); }
    Table& column(std::string_view name, const std::vector<double>& values) { return add(name, "f64", values); }
    // Completes the table, which is otherwise not written. Requires: no column is missing.
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
    // Columns so far.
    std::size_t written_ = 0;
    // As JSON.
    std::string columns_;
  };

  // The page's texts, to which all tables add.
  [[nodiscard]] PageStrings& strings() { return strings_; }
  // Begins a table. Requires: page_tables() has it.
  [[nodiscard]] Table table(std::string_view name, std::size_t rows) { return {*this, name, rows}; }
  // Adds a member to the JSON object. `json`: its value.
  void member(std::string_view name, std::string json);
  // Packs bytes on another thread; returns the blob's number.
  std::size_t add_blob(std::span<const std::byte> bytes) { return blobs_.add(bytes); }
  // The same for a text that `make` returns on another thread, before write() returns.
  std::size_t add_blob(std::function<std::string()> make) { return blobs_.add(std::move(make)); }
  // Writes the script elements. Blocks until all blobs are packed.
  void write(std::ostream& out);

 private:
  PageStrings strings_;
  PackedBlobs blobs_;
  // Members of "tables", as JSON.
  std::string tables_;
  // Other members of the object, as JSON.
  std::string members_;
};

// JSON that is safe inside a script element.
[[nodiscard]] std::string in_script(std::string json);
// A JSON string that is safe inside a script element.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace margay::command
