#include "command/trace/export_output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "command/line/standard_output.hpp"
#include "sim/base/text.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

using portals::Status;

std::streamsize ExportOutput::Buffer::xsputn(const char* text, std::streamsize count) {
  const std::size_t written = std::fwrite(text, 1, static_cast<std::size_t>(count), file);
  // Later errors are consequences of the first.
  if (written != static_cast<std::size_t>(count) && error == 0) error = errno;
  return static_cast<std::streamsize>(written);
}

ExportOutput::Buffer::int_type ExportOutput::Buffer::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char text = traits_type::to_char_type(letter);
  return xsputn(&text, 1) == 1 ? letter : traits_type::eof();
}

ExportOutput::~ExportOutput() {
  if (buffer_.file == nullptr || buffer_.file == stdout) return;
  std::fclose(buffer_.file);
  if (written_ != path_) ::unlink(written_.c_str());
}

namespace {

// The temporary path beside `path`: in the same folder, because a rename cannot cross file systems. A long name is
// shortened to leave room for the suffix.
std::string part_of(const std::string& path) {
  // Leaves room for the suffix within the 255 bytes that a file system allows for a name.
  constexpr std::size_t kNameMost = 200;
  const std::filesystem::path whole = path;
  const std::string name = whole.filename().string();
  // A name that no file system allows is kept, so that the error concerns it.
  const std::string kept = name.size() > NAME_MAX ? name : name.substr(0, kNameMost);
  return (whole.parent_path() / fmt::format("{}.{}.part", kept, ::getpid())).string();
}

// Whether the output would overwrite a file of the trace that is being read.
bool is_trace_file(const std::string& path) {
  std::uint64_t magic = 0;
  // An invalid path is reported when it is opened.
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  return std::filesystem::is_regular_file(path, error) && file.read(reinterpret_cast<char*>(&magic), sizeof magic) &&
         magic == sim::kTraceMagic;
}

// The target of a symbolic link to a regular file: the link stays, and the file is replaced.
std::string resolve_link(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error) || !std::filesystem::is_regular_file(path, error)) return path;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

// Opens the output. An incomplete file could be mistaken for a complete one, so a regular file is written under a
// temporary name beside the final one, and then renamed. A file of another kind, such as /dev/stdout, is written
// directly.
Status ExportOutput::open(const std::string& path) {
  if (path.empty() || path == "-") {
    buffer_.file = stdout;
    return {};
  }
  path_ = resolve_link(path);
  if (is_trace_file(path_)) {
    return Status::error(fmt::format("trace: {}: is a file of a trace: name another one with -o", sim::one_line(path)));
  }
  struct stat about {};
  const bool is_new_or_file = lstat(path_.c_str(), &about) != 0 || S_ISREG(about.st_mode);
  written_ = is_new_or_file ? part_of(path_) : path_;
  buffer_.file = std::fopen(written_.c_str(), "wbe");
  if (buffer_.file != nullptr) return {};
  return Status::error(fmt::format("trace: {}: cannot write the file: {}", path, std::strerror(errno)));
}

Status ExportOutput::close() {
  FILE* const file = buffer_.file;
  buffer_.file = nullptr;
  const bool is_stdout = file == stdout;
  const int failed = is_stdout ? std::fflush(file) : std::fclose(file);
  // Buffered data is written here, so the error of a full file system may come only now.
  if (failed != 0 && buffer_.error == 0) buffer_.error = errno;
  const bool is_beside = !is_stdout && written_ != path_;
  if (buffer_.error == 0 && is_beside && std::rename(written_.c_str(), path_.c_str()) != 0) buffer_.error = errno;
  if (buffer_.error == 0 && out_.good()) return {};
  if (is_stdout) {
    give_up_output();
    return Status::error(fmt::format("trace: standard output could not be written: {}", std::strerror(buffer_.error)));
  }
  if (is_beside) ::unlink(written_.c_str());
  return Status::error(fmt::format("trace: {}: could not be written: {}", path_, std::strerror(buffer_.error)));
}

ExportFolder::~ExportFolder() {
  std::error_code ignored;
  if (!written_.empty()) std::filesystem::remove_all(written_, ignored);
}

Status ExportFolder::open(const std::string& path) {
  path_ = path;
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  std::error_code error;
  if (std::filesystem::exists(path_, error) &&
      !(std::filesystem::is_directory(path_, error) && std::filesystem::is_empty(path_, error) && !error)) {
    return Status::error(fmt::format("trace: {}: exists and is not an empty folder: name another one with -o", path));
  }
  const std::string beside = part_of(path_);
  std::filesystem::create_directories(beside, error);
  if (error) return Status::error(fmt::format("trace: {}: cannot create the folder: {}", path, error.message()));
  written_ = beside;
  return {};
}

Status ExportFolder::close() {
  // rename(2) replaces an empty folder.
  std::error_code error;
  std::filesystem::rename(written_, path_, error);
  if (error) return Status::error(fmt::format("trace: {}: could not be put there: {}", path_, error.message()));
  written_.clear();
  return {};
}

}  // namespace margay::command
