#include "command/trace/read/mapped_writers.hpp"

#include <dirent.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string>
#include <string_view>

namespace margay::command {

namespace {

constexpr auto kOverlayfs = 0x794c'7630;  // OVERLAYFS_SUPER_MAGIC of linux/magic.h

// The file's name as /proc/*/maps prints it, with "\012" for a newline. "": not known.
std::string name_in_maps(int descriptor) {
  std::array<char, 4096> text{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), text.data(), text.size());
  // A name that fills the buffer may be cut off.
  if (length <= 0 || length == static_cast<ssize_t>(text.size())) return "";
  std::string name;
  for (const char c : std::string_view(text.data(), static_cast<std::size_t>(length))) {
    if (c == '\n') {
      name += "\\012";
    } else {
      name += c;
    }
  }
  return name;
}

// "7f00-7f01 rw-s 00000000 fe:00 1234     /path": five fields, then the name.
bool is_writing_line(std::string_view line, std::string_view name) {
  std::string_view rights;
  for (int field = 0; field < 5; ++field) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return false;
    if (field == 1) rights = line.substr(0, space);
    line.remove_prefix(space + 1);
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  // Only a shared mapping writes to the file.
  return line == name && rights.size() == 4 && rights[1] == 'w' && rights[3] == 's';
}

// A process that ends meanwhile has no maps and does not count as a writer.
bool maps_it(const std::string& process, std::string_view name) {
  std::ifstream maps("/proc/" + process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (is_writing_line(line, name)) return true;
  }
  return false;
}

}  // namespace

bool leases_prove(int descriptor) {
  struct statfs about {};
  return fstatfs(descriptor, &about) == 0 && about.f_type != kOverlayfs;
}

bool is_mapped_for_writing(int descriptor) {
  const std::string name = name_in_maps(descriptor);
  DIR* const processes = name.empty() ? nullptr : opendir("/proc");
  if (processes == nullptr) return true;
  bool found = false;
  while (const dirent* entry = found ? nullptr : readdir(processes)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0) found = maps_it(entry->d_name, name);
  }
  closedir(processes);
  return found;
}

}  // namespace margay::command
