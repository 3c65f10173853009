#include "sim/boot/measured_rates.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>

#include "sim/base/random.hpp"

namespace margay::sim {
namespace {

using portals::Status;

constexpr std::string_view kFirstLine = "margay-rates 1";
constexpr std::string_view kVersion = "margay 0.1.0";

// The field that a line fills, by its name.
struct Line {
  std::string_view name;
  std::string MeasuredRates::*value;
};
constexpr Line kLines[] = {{"machine", &MeasuredRates::machine},
                           {"date", &MeasuredRates::date},
                           {"unmeasured", &MeasuredRates::unmeasured},
                           {"rates", &MeasuredRates::rates},
                           {"messages", &MeasuredRates::messages}};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The model of the first processor. Reads only its part of /proc/cpuinfo, which is generated while it is read.
std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  std::string parts;  // an ARM processor's implementer and part, which are numbers
  while (std::getline(file, line) && !line.empty()) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view name = trimmed(std::string_view(line).substr(0, colon));
    const std::string_view value = trimmed(std::string_view(line).substr(colon + 1));
    if (name == "model name") return std::string(value);
    if (name == "CPU implementer" || name == "CPU part") parts += (parts.empty() ? "" : " ") + std::string(value);
  }
  return parts.empty() ? "unknown processor" : "processor " + parts;
}

// "Linux 6.1" of "6.1.0-13-amd64".
std::string kernel_series() {
  utsname name{};
  if (::uname(&name) != 0) return "unknown kernel";
  const std::string release(name.release);
  const std::size_t first = release.find('.');
  const std::size_t end = first == std::string::npos ? first : release.find_first_not_of("0123456789", first + 1);
  return std::string(name.sysname) + " " + release.substr(0, end);
}

// The file that contains this code: the library of an MPI program, or the command itself. The loader reports the
// command by the name in its call, so /proc/self/exe is read for it.
std::string own_file() {
  Dl_info info{};
  char path[PATH_MAX];
  if (::dladdr(reinterpret_cast<const void*>(&this_machine), &info) != 0 && info.dli_fname != nullptr &&
      std::strstr(info.dli_fname, ".so") != nullptr && ::realpath(info.dli_fname, path) != nullptr) {
    return path;
  }
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length <= 0 ? std::string() : std::string(path, static_cast<std::size_t>(length));
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; });
}

Status cannot(const std::string& what, const std::string& path) {
  return Status::error("cannot " + what + " " + path + ": " + std::strerror(errno));
}

// Regular files only: a pipe or a device would block the job.
Status read_bounded(const std::string& path, std::string& out) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return cannot("read", path);
  struct stat info {};
  // One byte more than the limit detects a file that is too long.
  std::array<char, kRatesFileBytesMax + 1> buffer;
  ssize_t length = -1;
  const bool regular = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  if (regular) length = ::pread(descriptor, buffer.data(), buffer.size(), 0);
  const int error = errno;
  ::close(descriptor);
  if (!regular) return Status::error(path + " is not a file of rates: not a regular file");
  errno = error;
  if (length < 0) return cannot("read", path);
  if (length > static_cast<ssize_t>(kRatesFileBytesMax))
    return Status::error(path + " is not a file of rates: too long");
  out.assign(buffer.data(), static_cast<std::size_t>(length));
  return {};
}

bool write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string this_machine() {
  return processor_model() + ", " + std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " processors, " +
         kernel_series() + ", " + std::string(kVersion);
}

std::string rates_file_text(const MeasuredRates& measured) {
  std::string text(kFirstLine);
  for (const Line& line : kLines) text += "\n" + std::string(line.name) + ": " + measured.*line.value;
  return text + "\n";
}

Status parse_rates_file(std::string_view text, MeasuredRates& out) {
  MeasuredRates read;
  bool first = true;
  while (!text.empty()) {
    // A last line without a newline counts too.
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    // A file of another kind or of another version.
    if (first && line != kFirstLine) break;
    if (!is_plain(line)) return Status::error("it has a line that is not text");
    const std::size_t colon = line.find(':');
    for (const Line& known : kLines) {
      if (!first && line.substr(0, colon) == known.name && colon != std::string_view::npos) {
        read.*known.value = trimmed(line.substr(colon + 1));
      }
    }
    first = false;
  }
  if (first) return Status::error("it does not begin with \"" + std::string(kFirstLine) + "\"");
  if (read.rates.empty()) return Status::error("it has no line \"rates: ...\"");
  if (read.rates.size() > kRatesTextMax) return Status::error("its rates are too long");
  out = std::move(read);
  return {};
}

std::string rates_file_name(std::string_view machine) {
  constexpr std::uint64_t kFnvOffset = 0xcbf2'9ce4'8422'2325;
  constexpr std::uint64_t kFnvPrime = 0x100'0000'01b3;
  std::uint64_t hash = kFnvOffset;
  for (const char c : machine) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return "rates-" + to_hex(std::as_bytes(std::span(&hash, 1)));
}

std::string user_rates_file() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  std::string folder;
  // The specification of XDG_CACHE_HOME demands that a relative path is ignored.
  if (cache != nullptr && cache[0] == '/') {
    folder = cache;
  } else if (home != nullptr && home[0] == '/') {
    folder = std::string(home) + "/.cache";
  }
  return folder.empty() ? folder : folder + "/margay/" + rates_file_name(this_machine());
}

std::string installed_rates_file() {
  // PREFIX/bin/margay, PREFIX/lib/libmpi.so.12 or PREFIX/lib/x86_64-linux-gnu/libmpi.so.12
  std::filesystem::path folder = std::filesystem::path(own_file()).parent_path();
  if (folder.empty()) return {};
  if (folder.parent_path().filename() == "lib") folder = folder.parent_path();
  return (folder.parent_path() / "share/margay" / rates_file_name(this_machine())).string();
}

Status read_rates_file(const std::string& path, MeasuredRates& out) {
  std::string text;
  if (Status status = read_bounded(path, text); !status.ok()) return status;
  const Status status = parse_rates_file(text, out);
  return status.ok() ? status : Status::error(path + " is not a file of rates: " + status.sentence());
}

Status write_rates_file(const std::string& path, const MeasuredRates& measured) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return Status::error("cannot make the folder " + folder.string() + ": " + error.message());
  // The temporary file is in the same folder, so that the rename is atomic.
  std::string name = path + ".XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return cannot("write", name);
  // mkostemp() makes a file that its owner alone may read, but an installation's rates are for all users.
  constexpr mode_t kForAll = 0644;
  const bool written = write_whole(descriptor, rates_file_text(measured)) && ::fchmod(descriptor, kForAll) == 0;
  const bool closed = ::close(descriptor) == 0;
  // close() reports errors of delayed writes.
  if (written && closed && ::rename(name.c_str(), path.c_str()) == 0) return {};
  const Status status = cannot("write", path);
  ::unlink(name.c_str());
  return status;
}

}  // namespace margay::sim
