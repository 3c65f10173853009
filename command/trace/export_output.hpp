// The destination of an export: standard output, a file, or a folder. Files and folders appear under their name only
// when they are complete.
#pragma once

#include <cstdio>
#include <ostream>
#include <streambuf>
#include <string>

#include "portals/base/status.hpp"

namespace margay::command {

// A stream to one file.
class ExportOutput {
 public:
  ExportOutput() : out_(&buffer_) {}
  ExportOutput(const ExportOutput&) = delete;
  ExportOutput& operator=(const ExportOutput&) = delete;
  // If close() was not called, removes the written file; an existing file stays.
  ~ExportOutput();

  // `path`: a file to create or replace; "" or "-": standard output. Errors: it cannot be written, or is a file of a
  // trace.
  [[nodiscard]] portals::Status open(const std::string& path);
  // The stream to write to. Requires: open() succeeded.
  [[nodiscard]] std::ostream& stream() { return out_; }
  // Puts the complete file in place of an existing one. Error: a write failed; the existing file stays.
  [[nodiscard]] portals::Status close();

 private:
  // A stream buffer over a FILE, which keeps the first error.
  class Buffer : public std::streambuf {
   public:
    FILE* file = nullptr;
    // errno of the first failed write.
    int error = 0;

   protected:
    std::streamsize xsputn(const char* text, std::streamsize count) override;
    int_type overflow(int_type letter) override;
  };

  std::string path_;
  // path_, or the temporary file beside it.
  std::string written_;
  Buffer buffer_;
  std::ostream out_;
};

// A new or empty folder.
class ExportFolder {
 public:
  ExportFolder() = default;
  ExportFolder(const ExportFolder&) = delete;
  ExportFolder& operator=(const ExportFolder&) = delete;
  // If close() did not succeed, removes the written files.
  ~ExportFolder();

  // Errors: the folder is not empty, or no temporary folder can be created beside it.
  [[nodiscard]] portals::Status open(const std::string& path);
  // The temporary folder for the files, until close().
  [[nodiscard]] const std::string& written() const { return written_; }
  // Renames the temporary folder. Error: the system's.
  [[nodiscard]] portals::Status close();

 private:
  std::string path_;
  std::string written_;
};

}  // namespace margay::command
