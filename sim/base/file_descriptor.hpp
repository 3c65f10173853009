// A file descriptor that is closed with its object.
#pragma once

#include <unistd.h>

#include <utility>

namespace margay::sim {

// Owns one descriptor, or none. Movable only.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  // Takes the ownership; a negative number is none, so that the result of open() may be passed.
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  // The descriptor, for system calls; valid as long as the object.
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_ = -1;
};

}  // namespace margay::sim
