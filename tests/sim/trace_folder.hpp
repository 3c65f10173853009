// A folder of a test's own, deleted with the object.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace margay::sim {

class TraceFolder {
 public:
  TraceFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "margay_trace_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  ~TraceFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace margay::sim
