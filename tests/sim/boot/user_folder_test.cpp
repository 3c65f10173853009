// Tests of the user's runtime folder: its place, and the folders and files that are refused because other users may
// access them.
#include "sim/boot/user_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/sim/trace_folder.hpp"
#include "tests/support/variable.hpp"

namespace margay::sim {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

std::string chosen_path() {
  std::string path;
  REQUIRE(user_folder_path(path).ok());
  return path;
}

bool make_folder(const std::string& path, mode_t mode) {
  return ::mkdir(path.c_str(), 0700) == 0 && ::chmod(path.c_str(), mode) == 0;
}

// Something at the folder's path that is refused. `make` returns false if this user cannot make it.
struct BadFolder {
  const char* what;
  bool (*make)(const std::string& path);
};
const BadFolder kBadFolders[] = {
    {"a link to a good folder",
     [](const std::string& path) {
       return ::mkdir((path + "_good").c_str(), 0700) == 0 && ::symlink((path + "_good").c_str(), path.c_str()) == 0;
     }},
    {"a link to nothing", [](const std::string& path) { return ::symlink("nothing", path.c_str()) == 0; }},
    {"a file", [](const std::string& path) { return std::ofstream(path).is_open(); }},
    {"a FIFO", [](const std::string& path) { return ::mkfifo(path.c_str(), 0700) == 0; }},
    {"others may list it", [](const std::string& path) { return make_folder(path, 0755); }},
    {"the group may enter it", [](const std::string& path) { return make_folder(path, 0710); }},
    {"others may write to it", [](const std::string& path) { return make_folder(path, 0702); }},
    {"of another owner",
     [](const std::string& path) { return make_folder(path, 0700) && ::chown(path.c_str(), 1, 1) == 0; }},
};

}  // namespace

TEST_CASE("user folder: the first of the variable, the runtime folder of this user, and /tmp") {
  const TraceFolder base;
  const std::string in_tmp = "/tmp/margay-" + std::to_string(::geteuid());
  std::ofstream(base / "file") << "x";
  struct {
    std::optional<std::string> given, runtime;
    std::string path;
  } const kCases[] = {
      {base / "own", base.path(), base / "own"},
      {base / "own///", base.path(), base / "own"},
      {"/", base.path(), "/"},
      {std::nullopt, base.path(), base / "margay"},
      {"", base.path() + "/", base / "margay"},
      {std::nullopt, base / "absent", in_tmp},
      {std::nullopt, base / "file", in_tmp},
      {std::nullopt, "relative", in_tmp},
      {std::nullopt, "", in_tmp},
      {std::nullopt, std::nullopt, in_tmp},
  };
  for (const auto& one : kCases) {
    CAPTURE(one.path);
    const Variable given("MARGAY_USER_FOLDER", one.given);
    const Variable runtime("XDG_RUNTIME_DIR", one.runtime);
    CHECK(chosen_path() == one.path);
  }
  const Variable relative("MARGAY_USER_FOLDER", "relative/path");
  std::string path;
  CHECK(user_folder_path(path).sentence().find("MARGAY_USER_FOLDER") != std::string::npos);
}

TEST_CASE("user folder: it is made at the first use, for its user only, and then used again") {
  const TraceFolder base;
  const Variable given("MARGAY_USER_FOLDER", base / "own");
  CHECK(!std::filesystem::exists(base / "own"));
  for (int use = 0; use < 2; ++use) {
    PrivateFolder folder;
    REQUIRE(open_user_folder(folder).ok());
    CHECK(folder.path == base / "own");
    CHECK(folder.descriptor.is_open());
    CHECK((::fcntl(folder.descriptor.number(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(mode_of(base / "own") == 0700);
  }
  const Variable without_parent("MARGAY_USER_FOLDER", base / "absent/own");
  PrivateFolder folder;
  CHECK(open_user_folder(folder).sentence().find(base / "absent/own") != std::string::npos);
}

TEST_CASE("user folder: a folder that others may access, or another kind of file, is refused and stays as it is") {
  for (const BadFolder& bad : kBadFolders) {
    CAPTURE(bad.what);
    const TraceFolder base;
    if (!bad.make(base / "own")) continue;  // only root can give a folder away
    const unsigned mode = mode_of(base / "own");
    for (const std::string end : {"", "/"}) {
      const Variable given("MARGAY_USER_FOLDER", base / ("own" + end));
      PrivateFolder folder;
      const portals::Status status = open_user_folder(folder);
      CHECK(!folder.descriptor.is_open());
      CHECK(status.sentence().find(base / "own") != std::string::npos);
      CHECK(status.sentence().find("MARGAY_USER_FOLDER") != std::string::npos);
    }
    CHECK(mode_of(base / "own") == mode);
  }
}

TEST_CASE("private file: it appears once, with its whole content, and without a trace of other attempts") {
  const TraceFolder base;
  PrivateFolder folder;
  REQUIRE(open_private_folder(nullptr, base / "own", folder).ok());
  const FileAt file{folder.descriptor.number(), "file", folder.path + "/file"};
  CHECK(read_private_file(file, 10).state == FileState::absent);
  bool made = false;
  const mode_t mask = ::umask(0777);
  CHECK(make_private_file(file, "first", made).ok());
  ::umask(mask);
  CHECK(made);
  CHECK(mode_of(base / "own/file") == 0600);
  CHECK(make_private_file(file, "second", made).ok());
  CHECK(!made);
  for (const auto& [limit, state] : {std::pair(5U, FileState::read), {4U, FileState::unfit}}) {
    const PrivateFile read = read_private_file(file, limit);
    CHECK(read.state == state);
    CHECK(read.content == (state == FileState::read ? "first" : ""));
    CHECK(read.status.ok() == (state == FileState::read));
  }
  const auto entries = std::filesystem::directory_iterator(base / "own");
  CHECK(std::distance(begin(entries), end(entries)) == 1);
  const FileAt impossible{folder.descriptor.number(), "no/folder", folder.path + "/no/folder"};
  CHECK(make_private_file(impossible, "x", made).sentence().find(impossible.path) != std::string::npos);
  CHECK(!made);
}

}  // namespace margay::sim
