// A trace file that is open for reading, its header, and how to complain about it. Internal to sim/trace.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/status.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

class TraceSource {
 public:
  // Follows no symbolic link and waits for nobody; what hinders it is measure()'s error. `path` outlives the source.
  explicit TraceSource(const std::string& path);
  TraceSource(const TraceSource&) = delete;
  TraceSource& operator=(const TraceSource&) = delete;
  ~TraceSource();

  // An error that names the file.
  [[nodiscard]] portals::Status error(const std::string& sentence) const;
  // The file's length. Errors: it cannot be opened, or is no regular file.
  [[nodiscard]] portals::Status measure(std::uint64_t& bytes) const;
  // All of these bytes. Errors: the system's, and a file that ends before.
  [[nodiscard]] portals::Status read(void* target, std::uint64_t bytes, std::uint64_t offset) const;
  // The header, of which every field that reading depends on is checked. Errors name the field and its value.
  [[nodiscard]] portals::Status read_header(sim::TraceHeader& header) const;
  // Whether a process has it open or mapped for writing. Where there are no leases (some file systems, another user's
  // file), or they prove nothing, only those that have it mapped and whose maps this user may read are seen.
  [[nodiscard]] bool may_be_written() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  [[nodiscard]] portals::Status check(const sim::TraceHeader& header, std::uint64_t file_bytes) const;
  [[nodiscard]] portals::Status check_end(const sim::TraceHeader& header) const;

  const std::string& path_;
  int descriptor_;
};

}  // namespace margay::command
