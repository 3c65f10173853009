// The result of an operation that can be refused: nothing, or a sentence that names what, where and how to mend it.
#pragma once

#include <string>
#include <utility>

namespace margay::portals {

class [[nodiscard]] Status {
 public:
  Status() = default;
  [[nodiscard]] static Status error(std::string sentence) { return Status(std::move(sentence)); }
  [[nodiscard]] bool ok() const { return sentence_.empty(); }
  [[nodiscard]] const std::string& sentence() const { return sentence_; }

 private:
  explicit Status(std::string sentence) : sentence_(std::move(sentence)) {}
  std::string sentence_;
};

}  // namespace margay::portals
