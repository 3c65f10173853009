// The result of an operation that can fail: success, or one message that describes what failed, where, and how to
// correct it.
#pragma once

#include <string>
#include <utility>

namespace margay::portals {

// The result. Success is an empty string and allocates nothing. The first function that detects a failure words the
// message; its callers pass it on, perhaps with a prefix. A value that owns its message. Code branches on ok() alone:
// the wording is for people, and may change.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // A failure. Requires: `sentence` is not empty, because an empty one is success.
  [[nodiscard]] static Status error(std::string sentence) { return Status(std::move(sentence)); }
  // Whether it is a success.
  [[nodiscard]] bool ok() const { return sentence_.empty(); }
  // The message, without a full stop at its end; empty on success. Valid as long as this Status.
  [[nodiscard]] const std::string& sentence() const { return sentence_; }

 private:
  explicit Status(std::string sentence) : sentence_(std::move(sentence)) {}
  // Empty: success.
  std::string sentence_;
};

}  // namespace margay::portals
