// Where an export goes: standard output, a file, or a folder. What cannot be written is a sentence.
#pragma once

#include <cstdio>
#include <ostream>
#include <streambuf>
#include <string>

#include "portals/base/status.hpp"

namespace margay::command {

class ExportOutput {
 public:
  ExportOutput() : out_(&buffer_) {}
  ExportOutput(const ExportOutput&) = delete;
  ExportOutput& operator=(const ExportOutput&) = delete;
  // Without close() before it, what was written is removed, and what stood there stays.
  ~ExportOutput();

  // `path`: a file that is made or written anew; "" or "-": standard output. Errors: it cannot be written, or is a file
  // of a trace.
  [[nodiscard]] portals::Status open(const std::string& path);
  [[nodiscard]] std::ostream& stream() { return out_; }
  // All that was written is there, in place of what was there before; or the error that it is not, and that stays.
  [[nodiscard]] portals::Status close();

 private:
  class Buffer : public std::streambuf {
   public:
    FILE* file = nullptr;
    int error = 0;  // errno of the first write that failed

   protected:
    std::streamsize xsputn(const char* text, std::streamsize count) override;
    int_type overflow(int_type letter) override;
  };

  std::string path_;
  std::string written_;  // path_, or the file beside it that takes its place in the end
  Buffer buffer_;
  std::ostream out_;
};

// A folder that is not there yet, or has nothing in it.
class ExportFolder {
 public:
  ExportFolder() = default;
  ExportFolder(const ExportFolder&) = delete;
  ExportFolder& operator=(const ExportFolder&) = delete;
  // Without close() before it, what was written is removed.
  ~ExportFolder();

  // Errors: there is something in it, or none can be made beside it.
  [[nodiscard]] portals::Status open(const std::string& path);
  // Where its files go until close().
  [[nodiscard]] const std::string& written() const { return written_; }
  // Puts it in its place.
  [[nodiscard]] portals::Status close();

 private:
  std::string path_;
  std::string written_;
};

}  // namespace margay::command
