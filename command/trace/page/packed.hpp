// Bytes as text that a page can hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <vector>

namespace margay::command {

// Base64 (RFC 4648) of gzip (RFC 1952), which a browser unpacks by itself.
[[nodiscard]] std::string packed(std::span<const std::byte> bytes);

// Packed blobs by number. They are made and packed on other threads while the caller makes the next ones: of a large
// trace's page that is most of the work.
class PackedBlobs {
 public:
  // Its number, from 0. `bytes` are copied. Waits while as many blobs as the machine has processors are being packed.
  std::size_t add(std::span<const std::byte> bytes);
  // The same of a text that `make` makes on another thread, before at() returns this blob. What it uses outlives that.
  std::size_t add(std::function<std::string()> make);
  [[nodiscard]] std::size_t size() const { return blobs_.size(); }
  // Waits until it is packed. Requires: number < size().
  [[nodiscard]] const std::string& at(std::size_t number);

 private:
  struct Blob {
    std::string text;
    std::future<std::string> pending;  // valid until its text is taken
  };
  std::size_t add_pending(std::function<std::string()> packs);
  std::vector<Blob> blobs_;
  std::size_t taken_ = 0;  // of the first so many the texts are there
};

}  // namespace margay::command
