// An encoding of bytes as text inside a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <vector>

namespace margay::command {

// Base64 (RFC 4648) of gzip (RFC 1952), which a browser decodes natively. Throws std::bad_alloc without memory.
[[nodiscard]] std::string packed(std::span<const std::byte> bytes);

// Packed blobs by number. Other threads create and pack them while the caller prepares the next ones, because packing
// is most of the work for the page of a large trace. The object itself belongs to one thread.
class PackedBlobs {
 public:
  // Packs a copy of `bytes`; returns the blob's number, from 0. Blocks while as many blobs as the machine has
  // processors are in progress.
  std::size_t add(std::span<const std::byte> bytes);
  // The same for the text that `make` returns. `make` runs on another thread and has ended when at() returns this blob.
  // Objects that it uses must live until then.
  std::size_t add(std::function<std::string()> make);
  [[nodiscard]] std::size_t size() const { return blobs_.size(); }
  // The packed text; blocks until it is complete. Requires: number < size().
  [[nodiscard]] const std::string& at(std::size_t number);

 private:
  struct Blob {
    std::string text;
    // Valid until the text is taken.
    std::future<std::string> pending;
  };
  std::size_t add_pending(std::function<std::string()> packs);
  std::vector<Blob> blobs_;
  // Number of blobs, from the first on, whose texts are complete.
  std::size_t taken_ = 0;
};

}  // namespace margay::command
