// Tests of the user's key: one key for all processes, however they start, and the files that are refused.
#include "sim/boot/user_key.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/sim/trace_folder.hpp"
#include "tests/support/variable.hpp"

namespace margay::sim {
namespace {

using Key = std::array<std::byte, kUserKeyBytes>;

constexpr char kSecret[] = "a secret of the user, never shown";
static_assert(sizeof kSecret - 1 > kUserKeyBytes);

// A file with the first bytes of the secret.
bool make_file(const std::string& path, std::size_t bytes, mode_t mode) {
  std::ofstream(path) << std::string(kSecret, bytes);
  return ::chmod(path.c_str(), mode) == 0;
}

// Something at the key's path that is refused. `make` returns false if this user cannot make it.
struct BadKey {
  const char* what;
  bool (*make)(const std::string& path);
};
const BadKey kBadKeys[] = {
    {"empty", [](const std::string& path) { return make_file(path, 0, 0600); }},
    {"a byte too short", [](const std::string& path) { return make_file(path, kUserKeyBytes - 1, 0600); }},
    {"a byte too long", [](const std::string& path) { return make_file(path, kUserKeyBytes + 1, 0600); }},
    {"the group may read it", [](const std::string& path) { return make_file(path, kUserKeyBytes, 0640); }},
    {"others may read it", [](const std::string& path) { return make_file(path, kUserKeyBytes, 0604); }},
    {"others may write it", [](const std::string& path) { return make_file(path, kUserKeyBytes, 0602); }},
    {"of another owner",
     [](const std::string& path) { return make_file(path, kUserKeyBytes, 0600) && ::chown(path.c_str(), 1, 1) == 0; }},
    {"a link to a good key",
     [](const std::string& path) {
       return make_file(path + "_good", kUserKeyBytes, 0600) && ::symlink((path + "_good").c_str(), path.c_str()) == 0;
     }},
    {"a link to nothing", [](const std::string& path) { return ::symlink("nothing", path.c_str()) == 0; }},
    {"a folder", [](const std::string& path) { return ::mkdir(path.c_str(), 0700) == 0; }},
    {"a FIFO, which would block", [](const std::string& path) { return ::mkfifo(path.c_str(), 0600) == 0; }},
};

// The keys that `count` processes get which ask at the same time. Empty ones failed.
std::vector<std::string> keys_of_processes(int count) {
  int gate[2];
  int answers[2];
  REQUIRE(::pipe(gate) == 0);
  REQUIRE(::pipe(answers) == 0);
  for (int i = 0; i < count; ++i) {
    if (::fork() != 0) continue;
    ::close(gate[1]);
    char none = 0;
    static_cast<void>(!::read(gate[0], &none, 1));  // until the gate is closed
    Key key{};
    const bool ok = user_key(key).ok() && ::write(answers[1], key.data(), key.size()) == ssize_t{kUserKeyBytes};
    ::_exit(ok ? 0 : 1);
  }
  ::close(gate[0]);
  ::close(gate[1]);
  ::close(answers[1]);
  std::vector<std::string> keys;
  // Writes of this length are whole.
  for (std::string key(kUserKeyBytes, '\0'); ::read(answers[0], key.data(), key.size()) == ssize_t{kUserKeyBytes};) {
    keys.push_back(key);
  }
  ::close(answers[0]);
  for (int i = 0; i < count; ++i) {
    int status = 0;
    REQUIRE(::wait(&status) > 0);
    CHECK(status == 0);
  }
  return keys;
}

}  // namespace

TEST_CASE("user key: it is made once, in the user's folder or in the named file, and differs between them") {
  const TraceFolder base;
  const Variable folder("MARGAY_USER_FOLDER", base / "own");
  Key first{};
  {
    const Variable file("MARGAY_KEY_FILE", std::nullopt);
    REQUIRE(user_key(first).ok());
    Key again{};
    REQUIRE(user_key(again).ok());
    CHECK(first == again);
    CHECK(first != Key{});
    struct stat info {};
    REQUIRE(::stat((base / "own/key").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0600);
    CHECK(info.st_size == ssize_t{kUserKeyBytes});
  }
  const Variable file("MARGAY_KEY_FILE", base / "another");
  Key other{};
  REQUIRE(user_key(other).ok());
  CHECK(other != first);
  CHECK(std::filesystem::file_size(base / "another") == kUserKeyBytes);
}

TEST_CASE("user key: a path that is relative, names a folder, or lies in none, is refused") {
  const TraceFolder base;
  for (const std::string& path : {std::string("relative"), base.path() + "/", base / "absent/key"}) {
    CAPTURE(path);
    const Variable file("MARGAY_KEY_FILE", path);
    Key key{};
    CHECK(user_key(key).sentence().find("MARGAY_KEY_FILE") != std::string::npos);
  }
}

TEST_CASE("user key: a file that others may access, or that is not a key, is refused, and never shown") {
  for (const BadKey& bad : kBadKeys) {
    for (const bool is_named : {false, true}) {
      CAPTURE(bad.what);
      const TraceFolder base;
      const std::string path = base / "key";
      if (!bad.make(path)) continue;  // only root can give a file away
      const Variable folder("MARGAY_USER_FOLDER", base.path());
      const Variable file("MARGAY_KEY_FILE", is_named ? std::optional(path) : std::nullopt);
      Key key{};
      const portals::Status status = user_key(key);
      CHECK(status.sentence().find(path) != std::string::npos);
      CHECK(status.sentence().find(std::string(kSecret, 6)) == std::string::npos);
      CHECK(key == Key{});
    }
  }
}

TEST_CASE("user key: processes that make it at once agree") {
  for (int round = 0; round < 20; ++round) {
    const TraceFolder base;
    const Variable folder("MARGAY_USER_FOLDER", base / "own");
    const Variable file("MARGAY_KEY_FILE", std::nullopt);
    const std::vector<std::string> keys = keys_of_processes(8);
    REQUIRE(keys.size() == 8);
    CHECK(std::ranges::count(keys, keys.front()) == 8);
    const auto entries = std::filesystem::directory_iterator(base / "own");
    CHECK(std::distance(begin(entries), end(entries)) == 1);
  }
}

}  // namespace margay::sim
