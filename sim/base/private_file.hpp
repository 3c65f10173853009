// Folders and files that only their user can access. A folder is opened once, and its files are opened relative to its
// descriptor, so that the checks and all uses refer to the same folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"
#include "sim/base/file_descriptor.hpp"

namespace margay::sim {

// An open folder.
struct PrivateFolder {
  FileDescriptor descriptor;
  // As in messages.
  std::string path;
};

// Opens the folder `name` in `parent`; without a parent, `name` is an absolute path. Makes the folder, with mode 0700,
// if it does not exist. Refuses a symbolic link, a file of another kind, a folder of another owner, and one that the
// group or others can access. The failure names the path and the cure.
[[nodiscard]] portals::Status open_private_folder(const PrivateFolder* parent, const std::string& name,
                                                  PrivateFolder& out);

// The place of a file: an open folder, and the name in it.
struct FileAt {
  int folder = -1;
  std::string name;
  // As in messages.
  std::string path;
};

// `unfit`: not a regular file, of another owner, accessible for the group or others, or too long. `unknown`: the file
// could not be read for another reason, such as a lack of descriptors.
enum class FileState : std::uint8_t { read, absent, unfit, unknown };

// The result of read_private_file().
struct PrivateFile {
  FileState state = FileState::absent;
  // The whole file; empty unless it was read.
  std::string content;
  // The reason if the file is unfit or unknown.
  portals::Status status;
};

// Reads a file of at most `bytes_max` bytes. Follows no link, and never blocks.
[[nodiscard]] PrivateFile read_private_file(const FileAt& file, std::size_t bytes_max);

// Makes a file with mode 0600 that appears with its whole content, unless one of this name exists: `made` is then
// false, and the existing file is unchanged. Of several processes that make the file at once, one succeeds.
[[nodiscard]] portals::Status make_private_file(const FileAt& file, std::string_view content, bool& made);

}  // namespace margay::sim
