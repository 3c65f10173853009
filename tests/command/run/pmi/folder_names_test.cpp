// Tests of the names of all jobs of a user: of several launchers one publishes a service, a dead launcher's names are
// replaced by one, and damaged files harm nobody. Launchers are processes that wait; the names are published for them.
#include "command/run/pmi/folder_names.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/trace_folder.hpp"
#include "tests/support/variable.hpp"

namespace margay::command {
namespace {

// A process that waits until it is killed.
class Launcher {
 public:
  Launcher() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const sim::ProcessIdentity me = sim::own_process();
      static_cast<void>(!::write(ends[1], &me, sizeof me));
      while (true) ::pause();
    }
    REQUIRE(::read(ends[0], &who_, sizeof who_) == sizeof who_);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] const sim::ProcessIdentity& who() const { return who_; }

 private:
  pid_t pid_ = 0;
  sim::ProcessIdentity who_;
};

// A user's folder of the test's own, and a launcher's part of it.
struct Folder {
  sim::TraceFolder base;
  Variable variable{"MARGAY_USER_FOLDER", base / "own"};

  [[nodiscard]] std::string file(const std::string& service) const {
    return base / ("own/names/" + name_file_of(service));
  }
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(base / "own/names", ignored)) {
      names.insert(entry.path().filename());
    }
    return names;
  }
};

std::string found(FolderNames& names, const std::string& service) {
  std::string port = "unchanged";
  CHECK(names.lookup(service, port).ok());
  return port;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), 0600);
}

// The name of a launcher that has ended without withdrawing it.
void leave_stale(const std::string& service) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    FolderNames names(1);
    ::_exit(names.publish(service, "stale").ok() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(status == 0);
}

// Processes that publish the same service at once, each with its number as the port, and then wait until the end.
class Race {
 public:
  explicit Race(std::size_t count) {
    int gate[2];
    int results[2];
    REQUIRE(::pipe(gate) == 0);
    REQUIRE(::pipe(results) == 0);
    while (pids_.size() < count) {
      pids_.push_back(::fork());
      if (pids_.back() == 0) run(gate, results[1]);
    }
    ::close(gate[0]);
    ::close(gate[1]);
    ::close(results[1]);
    for (std::size_t i = 0; i < count; ++i) {
      pid_t winner = 0;
      REQUIRE(::read(results[0], &winner, sizeof winner) == sizeof winner);
      if (winner != 0) winners_.push_back(std::to_string(winner));
    }
    ::close(results[0]);
  }
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;
  ~Race() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  // The ports of those that succeeded.
  [[nodiscard]] const std::vector<std::string>& winners() const { return winners_; }

 private:
  [[noreturn]] static void run(const int* gate, int result) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(gate[1]);
    FolderNames names(1);
    char none = 0;
    static_cast<void>(!::read(gate[0], &none, 1));  // until the gate is closed
    const pid_t winner = names.publish("ocean", std::to_string(::getpid())).ok() ? ::getpid() : 0;
    static_cast<void>(!::write(result, &winner, sizeof winner));
    while (true) ::pause();
  }

  std::vector<pid_t> pids_;
  std::vector<std::string> winners_;
};

// Something in place of a name's file that is ignored. `removed`: by a publication of the name.
struct Damage {
  const char* what;
  bool removed;
  void (*make)(const std::string& path);
};
const Damage kDamages[] = {
    {"empty", true, [](const std::string& path) { write_file(path, ""); }},
    {"binary", true, [](const std::string& path) { write_file(path, std::string(100, '\xff')); }},
    {"too long", true, [](const std::string& path) { write_file(path, std::string(1'000'000, 'x')); }},
    {"another version", true,
     [](const std::string& path) {
       write_file(path, "margay-name 2\nlauncher: 1 1\njob: a\nservice: ocean\nport: p\n");
     }},
    {"a dead launcher", true,
     [](const std::string& path) {
       write_file(path, name_file_text({{::getpid(), 1}, "a", "ocean", "p"}));
     }},
    {"readable by others", true,
     [](const std::string& path) {
       write_file(path, name_file_text({sim::own_process(), "a", "ocean", "p"}));
       ::chmod(path.c_str(), 0644);
     }},
    {"a FIFO, which would block", true, [](const std::string& path) { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }},
    {"a link to a file", true,
     [](const std::string& path) {
       write_file(path + "_good", name_file_text({sim::own_process(), "a", "ocean", "p"}));
       REQUIRE(::symlink((path + "_good").c_str(), path.c_str()) == 0);
     }},
    {"a link to nothing", true, [](const std::string& path) { REQUIRE(::symlink("nothing", path.c_str()) == 0); }},
    {"another service of a launcher that runs", false,
     [](const std::string& path) {
       write_file(path, name_file_text({sim::own_process(), "a", "sea", "p"}));
     }},
    {"a folder", false, [](const std::string& path) { REQUIRE(::mkdir(path.c_str(), 0700) == 0); }},
};

}  // namespace

TEST_CASE("folder names: one job publishes, others find it, until it withdraws") {
  const Folder folder;
  const Launcher first, second;
  FolderNames one(1, first.who());
  FolderNames two(2, second.who());
  for (const std::string& service : {std::string("ocean"), std::string("../x"), std::string("a/b"), std::string("."),
                                     std::string(255, 'n'), std::string(300, '%')}) {
    CAPTURE(service);
    CHECK(found(two, service).empty());
    CHECK(one.publish(service, "port").ok());
    CHECK(found(two, service) == "port");
    const portals::Status refused = two.publish(service, "other");
    CHECK(refused.sentence().find(std::to_string(first.who().pid)) != std::string::npos);
    two.unpublish(service);  // another's name stays
    CHECK(found(two, service) == "port");
    one.unpublish(service);
    CHECK(found(two, service).empty());
    CHECK(two.publish(service, "other").ok());
    CHECK(found(one, service) == "other");
  }
  CHECK(folder.files().size() == 6);
  two.withdraw();
  CHECK(folder.files().empty());
  CHECK(two.publish("ocean", "late").ok());
  CHECK(folder.files().empty());
}

TEST_CASE("folder names: no folder is touched before the first name, and an end removes own names only") {
  const Folder folder;
  const Launcher first, second;
  FolderNames one(1, first.who());
  CHECK(one.publish("kept", "port").ok());
  std::filesystem::remove_all(folder.base / "own");
  { const FolderNames idle(2, second.who()); }
  CHECK(!std::filesystem::exists(folder.base / "own"));
  CHECK(one.publish("again", "port").ok());
  {
    FolderNames two(2, second.who());
    CHECK(two.publish("kept", "port").ok());
    one.unpublish("kept");  // it was removed, and is now another's
    CHECK(folder.files() == std::set<std::string>{"again", "kept"});
  }
  CHECK(folder.files() == std::set<std::string>{"again"});
}

TEST_CASE("folder names: a dead launcher's names are not found, and are replaced") {
  const Folder folder;
  leave_stale("ocean");
  CHECK(folder.files() == std::set<std::string>{"ocean"});
  const Launcher first, second;
  FolderNames one(1, first.who());
  FolderNames two(2, second.who());
  CHECK(found(one, "ocean").empty());
  CHECK(one.publish("ocean", "port").ok());
  CHECK(found(two, "ocean") == "port");
  CHECK(!two.publish("ocean", "other").ok());
  CHECK(folder.files() == std::set<std::string>{"ocean"});
}

TEST_CASE("folder names: a process that has a dead launcher's number is not this launcher") {
  const Folder folder;
  const Launcher first, second;
  FolderNames before(1, {first.who().pid, first.who().start_ticks - 1});
  CHECK(before.publish("ocean", "stale").ok());
  FolderNames two(2, second.who());
  CHECK(found(two, "ocean").empty());
  CHECK(two.publish("ocean", "port").ok());
}

TEST_CASE("folder names: damaged files are not found, block nobody, and are replaced if they are files") {
  for (const Damage& damage : kDamages) {
    CAPTURE(damage.what);
    const Folder folder;
    const Launcher first, second;
    FolderNames one(1, first.who());
    FolderNames two(2, second.who());
    CHECK(one.publish("sky", "port").ok());
    damage.make(folder.file("ocean"));
    CHECK(found(two, "ocean").empty());
    CHECK(found(two, "sky") == "port");
    CHECK(one.publish("ocean", "port").ok());
    CHECK(found(two, "ocean") == (damage.removed ? "port" : ""));
    CHECK(two.publish("ocean", "port").ok() == !damage.removed);
    one.withdraw();
    CHECK(!std::filesystem::exists(folder.file("sky")));
    CHECK(std::filesystem::exists(folder.file("ocean")) == !damage.removed);
  }
}

TEST_CASE("folder names: of several jobs that publish at once one succeeds, over a free name and over a stale one") {
  constexpr std::size_t kJobs = 6;
  for (int round = 0; round < 60; ++round) {
    const Folder folder;
    if (round % 2 == 1) leave_stale("ocean");
    const Race race(kJobs);
    CHECK(race.winners().size() == 1);
    const Launcher another;
    FolderNames names(99, another.who());
    CHECK(found(names, "ocean") == race.winners().front());
    CHECK(folder.files() == std::set<std::string>{"ocean"});
  }
}

TEST_CASE("folder names: a stale name is not replaced while another process holds the lock") {
  const Folder folder;
  leave_stale("ocean");
  const int held = ::open((folder.base / "own/names").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Launcher first;
  REQUIRE(::flock(held, LOCK_EX) == 0);
  FolderNames one(1, first.who());
  CHECK(!one.publish("ocean", "port").ok());
  CHECK(one.publish("sky", "port").ok());
  REQUIRE(::flock(held, LOCK_UN) == 0);
  ::close(held);
  CHECK(one.publish("ocean", "port").ok());
}

TEST_CASE("folder names: without a usable folder a job publishes for itself, and a lookup returns the reason") {
  for (const bool is_inner : {false, true}) {
    const Folder folder;
    const std::string refused = folder.base / (is_inner ? "own/names" : "own");
    REQUIRE(std::filesystem::create_directories(refused));
    REQUIRE(::chmod((folder.base / "own").c_str(), is_inner ? 0700 : 0755) == 0);
    REQUIRE(::chmod(refused.c_str(), 0755) == 0);
    const Launcher first;
    FolderNames one(1, first.who());
    CHECK(one.publish("ocean", "port").ok());
    std::string port = "unchanged";
    CHECK(one.lookup("ocean", port).sentence().find(refused) != std::string::npos);
    CHECK(port.empty());
    one.unpublish("ocean");
  }
}

}  // namespace margay::command
