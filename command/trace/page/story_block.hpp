// Stories of some messages as the page holds them. Their lines are those of other stories but for the numbers in them,
// so each line's form stands there once, and beside it what stands in its places, place by place. That is a tenth of
// the work to pack, and the reader has the texts back letter by letter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace margay::command {

class StoryBlock {
 public:
  // The next story. Requires: no control characters but line ends in it.
  void add(std::string_view story);
  // Four parts with kSeparator between them:
  // - forms, each on a line: kNumber in place of a value, or first kPadded: one that is filled up with spaces on its
  // left
  //   to kPaddedWidth letters
  // - shapes, each on a line: a story's forms by number, from 0
  // - the shape of each story, by number
  // - for each form, for each place in it, a line: the values in the order of the stories; one alone: it is always that
  [[nodiscard]] std::string text() const;

  static constexpr char kSeparator = '\x1e';
  static constexpr char kNumber = '\x01';
  static constexpr char kPadded = '\x02';
  static constexpr std::size_t kPaddedWidth = 12;

 private:
  // The values in a form's place.
  class Place {
   public:
    void add(std::string_view value, std::size_t earlier);
    [[nodiscard]] const std::string& text() const { return values_.empty() ? first_ : values_; }

   private:
    std::string first_;
    std::string values_;  // empty: all are the first one
  };
  struct Form {
    std::size_t uses = 0;
    std::vector<Place> places;
  };
  // Texts by number, in the order in which they came.
  class Numbers {
   public:
    std::size_t of(const std::string& text);
    [[nodiscard]] const std::string& lines() const { return lines_; }

   private:
    std::unordered_map<std::string, std::size_t> numbers_;
    std::string lines_;
  };
  void add_line(std::string_view line);

  Numbers form_numbers_, shape_numbers_;
  std::vector<Form> forms_;
  std::string stories_;                   // shapes by number
  std::string shape_;                     // of the story that is added
  std::string form_;                      // of its line
  std::vector<std::string_view> values_;  // of that
};

}  // namespace margay::command
