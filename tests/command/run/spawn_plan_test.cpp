// Tests of the plan of a spawn request: programs and folders as the info keys name them, and the numbers of processes.
#include "command/run/spawn_plan.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <filesystem>
#include <fstream>

namespace margay::command {

namespace {

// A folder with an executable file "tool".
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/margay_spawn_XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path = name;
    std::ofstream(path + "/tool") << "#!/bin/sh\n";
    ::chmod((path + "/tool").c_str(), 0700);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

SpawnCommand command(const std::string& program, std::uint32_t processes, SpawnPairs info = {}) {
  SpawnCommand made;
  made.program = program;
  made.processes = processes;
  made.info = std::move(info);
  return made;
}

std::string error_of(SpawnCommand one, std::uint32_t free = 10, const char* path = "/bin:/usr/bin") {
  std::vector<SpawnPart> parts;
  bool lacks_places = false;
  return plan_spawn({{std::move(one)}, {}}, free, path, parts, lacks_places).sentence();
}

SpawnPart plan_of(SpawnCommand one, std::uint32_t free = 10) {
  std::vector<SpawnPart> parts;
  bool lacks_places = false;
  const portals::Status status = plan_spawn({{std::move(one)}, {}}, free, "/bin:/usr/bin", parts, lacks_places);
  CHECK(status.sentence().empty());
  REQUIRE(parts.size() == 1);
  return parts[0];
}

}  // namespace

TEST_CASE("a spawned program is found in PATH, in the folders of path, and relative to wdir") {
  const Folder folder;
  SpawnCommand one = command("sh", 2);
  one.arguments = {"-c", "true"};
  const SpawnPart part = plan_of(one);
  CHECK(part.path == "/bin/sh");
  CHECK(part.program.argv == std::vector<std::string>{"sh", "-c", "true"});
  CHECK(part.program.ranks == 2);
  CHECK(part.program.is_spawned);
  CHECK(plan_of(command("tool", 1, {{"path", "/none:" + folder.path}})).path == folder.path + "/tool");
  const SpawnPart inside = plan_of(command("./tool", 1, {{"wdir", folder.path}}));
  CHECK(inside.path == "./tool");
  CHECK(inside.program.working_directory == folder.path);
}

TEST_CASE("a spawn request that cannot be carried out names the program or the info key") {
  const Folder folder;
  CHECK(error_of(command("tool", 1)).find("program tool is not in PATH") == 0);
  CHECK(error_of(command(folder.path + "/none", 1)).find("/none: No such file or directory") != std::string::npos);
  CHECK(error_of(command("sh", 1, {{"wdir", folder.path + "/none"}})).find("info key wdir: the working folder") == 0);
  CHECK(error_of(command("sh", 1, {{"wdir", folder.path + "/tool"}})).find("is not a folder") != std::string::npos);
  CHECK(error_of(command("sh", 1, {{"host", "another.example"}})).find("info key host: ") == 0);
  CHECK(error_of(command("sh", 1, {{"arch", "cray-1"}})).find("info key arch: \"cray-1\"") == 0);
  CHECK(error_of(command("sh", 1, {{"soft", "a"}})).find("info key soft=\"a\"") == 0);
  utsname machine{};
  REQUIRE(::uname(&machine) == 0);
  CHECK(
      error_of(command("sh", 1, {{"host", "localhost,127.0.0.1"}, {"arch", machine.machine}, {"other", "x"}})).empty());
}

TEST_CASE("the highest permitted number of processes that have places is started") {
  CHECK(error_of(command("sh", 4), 3).find("the command sh needs 4 processes, and 3 places of the job are free") == 0);
  CHECK(error_of(command("sh", 2), 1).find("the command sh needs 2 processes, and 1 place of the job is free") == 0);
  CHECK(error_of(command("sh", 1), 0).find("the command sh needs 1 process, and 0 places of the job are free") == 0);
  CHECK(plan_of(command("sh", 4, {{"soft", "0:4"}}), 3).program.ranks == 3);
  CHECK(plan_of(command("sh", 4, {{"soft", "0:4"}}), 3).requested == 4);
  CHECK(plan_of(command("sh", 8, {{"soft", "1:8:2"}}), 6).program.ranks == 5);
  CHECK(plan_of(command("sh", 8, {{"soft", "0"}}), 3).program.ranks == 0);
  CHECK(plan_of(command("sh", 8, {{"soft", "2,9"}})).program.ranks == 2);
  CHECK(error_of(command("sh", 8, {{"soft", "5:8"}}), 3).find("(info key soft=5:8)") != std::string::npos);
  CHECK(error_of(command("sh", 2, {{"soft", "-1,3"}})).find("info key soft=-1,3 permits none") == 0);
}

TEST_CASE("the places of a request are shared by all its commands") {
  std::vector<SpawnPart> parts;
  bool lacks_places = false;
  CHECK(!plan_spawn({{command("sh", 2), command("sh", 2)}, {}}, 3, "/bin", parts, lacks_places).ok());
  CHECK(lacks_places);
  CHECK(parts.empty());
  CHECK(!plan_spawn({{command("none", 2)}, {}}, 4, "/bin", parts, lacks_places).ok());
  CHECK(!lacks_places);
  CHECK(plan_spawn({{command("sh", 2), command("sh", 2)}, {}}, 4, "/bin", parts, lacks_places).ok());
  CHECK(parts.size() == 2);
}

TEST_CASE("a command that permits several numbers leaves the places that later commands need") {
  struct Row {
    std::uint32_t free;
    SpawnCommand commands[3];
    // Empty: there are not enough places.
    std::vector<std::uint32_t> started;
  };
  const Row rows[] = {
      {4, {command("sh", 4, {{"soft", "0:4"}}), command("sh", 2), command("sh", 1)}, {1, 2, 1}},
      {4, {command("sh", 4, {{"soft", "1:4"}}), command("sh", 3, {{"soft", "2:3"}}), command("sh", 0)}, {2, 2, 0}},
      {9, {command("sh", 4, {{"soft", "1:4"}}), command("sh", 3, {{"soft", "2:3"}}), command("sh", 0)}, {4, 3, 0}},
      {5, {command("sh", 4, {{"soft", "0:4:2"}}), command("sh", 2), command("sh", 3, {{"soft", "0:3"}})}, {2, 2, 1}},
      {3, {command("sh", 4, {{"soft", "1:4"}}), command("sh", 2), command("sh", 1)}, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    std::vector<SpawnPart> parts;
    bool lacks_places = false;
    const SpawnOrder order{{row.commands[0], row.commands[1], row.commands[2]}, {}};
    CHECK(plan_spawn(order, row.free, "/bin", parts, lacks_places).ok() == !row.started.empty());
    CHECK(lacks_places == row.started.empty());
    std::vector<std::uint32_t> started;
    for (const SpawnPart& part : parts) started.push_back(part.program.ranks);
    CHECK(started == row.started);
  }
}

TEST_CASE("the initial error handler of started processes is an environment variable") {
  CHECK(plan_of(command("sh", 1)).program.environment.empty());
  CHECK(plan_of(command("sh", 1, {{"mpi_initial_errhandler", "MPI_ERRORS_return"}})).program.environment ==
        Assignments{{"MARGAY_INITIAL_ERRHANDLER", "mpi_errors_return"}});
  CHECK(error_of(command("sh", 1, {{"mpi_initial_errhandler", "own"}})).find("info key mpi_initial_errhandler: ") == 0);
}

}  // namespace margay::command
