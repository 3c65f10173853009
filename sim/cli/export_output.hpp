// Where an export goes: standard output, a file, or a folder. What cannot be written is a sentence.
#pragma once

#include <cstdio>
#include <ostream>
#include <streambuf>
#include <string>

#include "portals/base/status.hpp"

namespace margay::sim {

class ExportOutput {
 public:
  ExportOutput() : out_(&buffer_) {}
  ExportOutput(const ExportOutput&) = delete;
  ExportOutput& operator=(const ExportOutput&) = delete;
  // Without close() before it, what was written is removed, and what stood there stays.
  ~ExportOutput();

  // `path`: a file that is made or written anew; "" or "-": standard output.
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

// Makes a folder that is not there yet. Errors: it has something in it, or cannot be made.
[[nodiscard]] portals::Status make_export_folder(const std::string& path);

}  // namespace margay::sim
