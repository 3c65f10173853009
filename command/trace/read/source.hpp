// An open trace file with its checked header. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/status.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

// Owns the descriptor. All errors name the file.
class TraceSource {
 public:
  // Opens the file without following a symbolic link and without blocking; a failure is reported by measure(). `path`
  // must outlive the source.
  explicit TraceSource(const std::string& path);
  TraceSource(const TraceSource&) = delete;
  TraceSource& operator=(const TraceSource&) = delete;
  ~TraceSource();

  // An error that begins with the file's name.
  [[nodiscard]] portals::Status error(const std::string& sentence) const;
  // The file's length in bytes. Errors: it cannot be opened, or is not a regular file.
  [[nodiscard]] portals::Status measure(std::uint64_t& bytes) const;
  // Reads exactly `bytes` bytes. Errors: the system's, and a file that ends earlier.
  [[nodiscard]] portals::Status read(void* target, std::uint64_t bytes, std::uint64_t offset) const;
  // Reads the header and checks every field that later reading depends on. Errors name the field and its value.
  [[nodiscard]] portals::Status read_header(sim::TraceHeader& header) const;
  // Whether a process has the file open or mapped for writing. Uses a lease; where leases are missing (some file
  // systems, another user's file) or prove nothing, only mappings that this user may see are found.
  [[nodiscard]] bool may_be_written() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  [[nodiscard]] portals::Status check(const sim::TraceHeader& header, std::uint64_t file_bytes) const;
  [[nodiscard]] portals::Status check_end(const sim::TraceHeader& header) const;

  // descriptor_ is -1 if the file could not be opened.
  const std::string& path_;
  int descriptor_;
};

}  // namespace margay::command
