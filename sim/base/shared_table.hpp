// A table of numbers that many objects have in common: thousands of ranks in one process all know the same of all the
// others. Immutable. Reading costs what a vector's does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace margay::sim {

class SharedTable {
 public:
  using Numbers = std::vector<std::uint32_t>;

  SharedTable() = default;
  SharedTable(Numbers numbers)  // NOLINT(google-explicit-constructor): it is the same table
      : numbers_(std::make_shared<const Numbers>(std::move(numbers))),
        first_(numbers_->data()),
        size_(numbers_->size()) {}
  SharedTable(std::initializer_list<std::uint32_t> numbers) : SharedTable(Numbers(numbers)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint32_t operator[](std::size_t at) const { return first_[at]; }
  [[nodiscard]] std::uint32_t front() const { return first_[0]; }
  [[nodiscard]] const std::uint32_t* begin() const { return first_; }
  [[nodiscard]] const std::uint32_t* end() const { return first_ + size_; }
  [[nodiscard]] const std::uint32_t* data() const { return first_; }
  // The same, as long as any copy of this lives.
  [[nodiscard]] const Numbers& numbers() const {
    static const Numbers kNone;
    return numbers_ != nullptr ? *numbers_ : kNone;
  }
  friend bool operator==(const SharedTable& one, const SharedTable& other) {
    return one.numbers_ == other.numbers_ || one.numbers() == other.numbers();
  }

 private:
  std::shared_ptr<const Numbers> numbers_;
  const std::uint32_t* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace margay::sim
