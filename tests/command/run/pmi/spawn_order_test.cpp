// Tests of spawn requests: whole ones, a table of bad lines, bounds, the counts of "soft", and the answer's line.
#include "command/run/pmi/spawn_order.hpp"

#include <doctest/doctest.h>

#include <random>

#include "sim/boot/pmi_message.hpp"

namespace margay::command {

namespace {

// Gives the reader all lines, and requires that the last one ends the request.
SpawnReader read_request(const std::vector<std::string>& lines) {
  SpawnReader reader;
  for (const std::string& line : lines) {
    const SpawnReader::Step step = reader.take_line(line);
    CAPTURE(line);
    CHECK((step == SpawnReader::Step::whole) == (&line == &lines.back()));
  }
  return reader;
}

// A request of one command with this line in its middle.
std::string error_with(const std::string& line) {
  return read_request({"mcmd=spawn", "nprocs=1", "execname=a", "totspawns=1", "spawnssofar=1", line, "endcmd"}).error();
}

std::vector<std::uint32_t> counts(std::string_view soft, std::uint32_t most) {
  std::vector<bool> allowed;
  REQUIRE(parse_soft(soft, most, allowed).ok());
  REQUIRE(allowed.size() == most + 1);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i <= most; ++i) {
    if (allowed[i]) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace

TEST_CASE("a spawn request of two commands has their arguments, info and keys as they are in the lines") {
  SpawnReader reader = read_request(
      {"mcmd=spawn",           "nprocs=2",      "execname=./a b",  "totspawns=2",  "spawnssofar=1",
       "arg1=-D x=1",          "arg2=",         "argcnt=2",        "preput_num=1", "preput_key_0=PARENT_ROOT_PORT_NAME",
       "preput_val_0=tag=1$x", "info_num=2",    "info_key_1=host", "info_val_1=h", "info_key_0=wdir",
       "info_val_0=/tmp/a b",  "endcmd",        "mcmd=spawn",      "execname=b",   "nprocs=0",
       "totspawns=2",          "spawnssofar=2", "later=field",     "argument=x",   "endcmd"});
  REQUIRE(reader.error().empty());
  CHECK(!reader.is_incomplete());
  const SpawnOrder order = reader.take_order();
  REQUIRE(order.commands.size() == 2);
  CHECK(order.processes() == 2);
  CHECK(order.commands[0].program == "./a b");
  CHECK(order.commands[0].arguments == std::vector<std::string>{"-D x=1", ""});
  CHECK(order.commands[0].info == SpawnPairs{{"wdir", "/tmp/a b"}, {"host", "h"}});
  CHECK(order.preput == SpawnPairs{{"PARENT_ROOT_PORT_NAME", "tag=1$x"}});
  CHECK(order.commands[1].program == "b");
  CHECK(order.commands[1].arguments.empty());
}

TEST_CASE("each bad line of a spawn request has an error that quotes it, and the answer waits for the end") {
  const std::pair<std::string, std::string> kBad[] = {
      {"nprocs=-1", "nprocs=\"-1\", which is not a number from 0 to 1024"},
      {"nprocs=1025", "\"1025\""},
      {"nprocs=", "nprocs=\"\""},
      {"nprocs=1x", "\"1x\""},
      {"nprocs=99999999999999999999", "\"99999999999999999999\""},
      {"execname=", "lacks the program's name"},
      {"totspawns=0", "block 1 of 0"},
      {"totspawns=257", "\"257\""},
      {"totspawns=x", "totspawns=\"x\""},
      {"spawnssofar=2", "block 2 of 1 where block 1 must follow"},
      {"argcnt=1", "announces 1 arguments, and has 0"},
      {"argcnt=4097", "\"4097\""},
      {"arg2=x", "arg2 where arg1 must follow"},
      {"arg0=x", "arg0 where arg1 must follow"},
      {"info_num=1", "announces 1 pairs of info, and has 0"},
      {"info_num=65", "\"65\""},
      {"info_key_64=a", "must be from 0 to 63"},
      {"info_key_x=a", "\"info_key_x\""},
      {"info_val_0=a", "a value of info without its key"},
      {"info_key_1=a", "a value of info without its key"},
      {"preput_val_3=a", "a value of preput without its key"},
      {"no field", "\"no field\", which is not key=value"},
      {"=value", "\"=value\""},
      {"", "\"\""},
      {"arg1=a\x01", "control character"},
      {"cmd=abort\x7f", "control character"},
      {"mcmd=spawn", "begins again before its endcmd"},
  };
  for (const auto& [line, error] : kBad) {
    CAPTURE(line);
    const std::string said = error_with(line);
    CAPTURE(said);
    CHECK(said.find(error) != std::string::npos);
  }
  CHECK(error_with("arg1=\tx").empty());
  CHECK(read_request({"mcmd=spawn", "execname=a", "endcmd"}).error() == "the spawn request lacks nprocs");
  CHECK(read_request({"mcmd=spawn", "nprocs=1", "execname=a", "spawnssofar=1", "endcmd"}).error() ==
        "the spawn request lacks totspawns");
  CHECK(read_request({"mcmd=spawn", "nprocs=1", "execname=a", "totspawns=1", "endcmd"}).error() ==
        "the spawn request lacks spawnssofar");
}

TEST_CASE("a spawn request without its end is an error of the next one, after which a third is right") {
  const std::vector<std::string> right = {"mcmd=spawn",  "nprocs=2",      "execname=b",
                                          "totspawns=1", "spawnssofar=1", "endcmd"};
  std::vector<std::string> lines = {"mcmd=spawn", "nprocs=1", "execname=a", "arg1=x"};
  lines.insert(lines.end(), right.begin(), right.end());
  CHECK(read_request(lines).error() == "the spawn request begins again before its endcmd");
  SpawnReader reader = read_request(right);
  CHECK(reader.error().empty());
  CHECK(reader.take_order().processes() == 2);
}

TEST_CASE("an error in the first block of a spawn request is kept until the last one") {
  SpawnReader reader = read_request({"mcmd=spawn", "nprocs=x", "execname=a", "totspawns=2", "spawnssofar=1", "endcmd",
                                     "mcmd=spawn", "nprocs=1", "execname=a", "totspawns=2", "spawnssofar=2", "endcmd"});
  CHECK(reader.error().find("nprocs=\"x\"") != std::string::npos);
  // The counts contradict each other, so no further block is awaited.
  CHECK(!read_request({"mcmd=spawn", "nprocs=1", "execname=a", "totspawns=3", "spawnssofar=2", "endcmd"})
             .error()
             .empty());
}

TEST_CASE("a spawn request is bounded in bytes and processes") {
  SpawnReader reader;
  CHECK(reader.take_line("mcmd=spawn") == SpawnReader::Step::more);
  for (std::uint32_t i = 1; i <= 100; ++i) {
    CHECK(reader.take_line("arg" + std::to_string(i) + "=" + std::string(16000, 'x')) == SpawnReader::Step::more);
  }
  CHECK(reader.take_line("endcmd") == SpawnReader::Step::whole);
  CHECK(reader.error().find("longer than 1048576 bytes") != std::string::npos);
  const std::string half = "nprocs=" + std::to_string(kMaxSpawnProcesses / 2 + 1);
  CHECK(read_request({"mcmd=spawn", half, "execname=a", "totspawns=2", "spawnssofar=1", "endcmd", "mcmd=spawn", half,
                      "execname=a", "totspawns=2", "spawnssofar=2", "endcmd"})
            .error()
            .find("more than 1024 processes") != std::string::npos);
}

TEST_CASE("random lines of a spawn request neither fail nor leave a request without an end") {
  std::mt19937 random(11);
  const std::string_view pieces[] = {"nprocs=",   "execname=", "totspawns=",  "spawnssofar=",  "arg1=",      "argcnt=",
                                     "info_num=", "info_key_", "info_val_0=", "preput_key_0=", "1",          "2",
                                     "0",         "=",         " ",           "endcmd",        "mcmd=spawn", "-",
                                     "x"};
  for (int round = 0; round < 20000; ++round) {
    SpawnReader reader;
    SpawnReader::Step step = reader.take_line("mcmd=spawn");
    for (std::size_t lines = random() % 8; lines > 0 && step == SpawnReader::Step::more; --lines) {
      std::string line;
      for (std::size_t i = random() % 4; i > 0; --i) line += pieces[random() % std::size(pieces)];
      step = reader.take_line(line);
    }
    // Further blocks may be due, as many as the bound permits.
    for (std::uint32_t ends = 0; step == SpawnReader::Step::more && ends <= kMaxSpawnCommands; ++ends) {
      if (!reader.in_block()) static_cast<void>(reader.take_line("mcmd=spawn"));
      step = reader.take_line("endcmd");
    }
    CHECK(step == SpawnReader::Step::whole);
    CHECK(!reader.is_incomplete());
    CHECK((!reader.error().empty() || reader.take_order().commands.size() <= kMaxSpawnCommands));
  }
}

TEST_CASE("soft names the permitted numbers of processes") {
  using Numbers = std::vector<std::uint32_t>;
  CHECK(counts("3", 5) == Numbers{3});
  CHECK(counts("0:5", 3) == Numbers{0, 1, 2, 3});
  CHECK(counts("1:9:3", 9) == Numbers{1, 4, 7});
  CHECK(counts("2:4,1,8:9:1", 8) == Numbers{1, 2, 3, 4, 8});
  CHECK(counts("5:2", 6).empty());
  // A negative stride leads down; negative numbers are ignored like those above the most.
  CHECK(counts("4:1:-1", 9) == Numbers{1, 2, 3, 4});
  CHECK(counts("9:1:-3", 7) == Numbers{3, 6});
  CHECK(counts("-1:3", 9) == Numbers{0, 1, 2, 3});
  CHECK(counts("-5:5:3", 9) == Numbers{1, 4});
  CHECK(counts("3:-3:-2", 9) == Numbers{1, 3});
  CHECK(counts("-1,-7:-2,2", 9) == Numbers{2});
  CHECK(counts("2:2:-1", 9) == Numbers{2});
  CHECK(counts("4294967295:0:-4294967293", 9) == Numbers{2});
  CHECK(counts("", 2).empty());
  CHECK(counts("0:4294967295:4294967295", 2) == Numbers{0});
  for (const std::string_view bad : {"x", "1:", ":2", "1:2:0", "1:2:3:4", "1,,2", "-", "--1", "1:2:-1", "2:1:1", "1 2",
                                     "1:4294967296", "-4294967296"}) {
    CAPTURE(bad);
    std::vector<bool> allowed;
    CHECK(parse_soft(bad, 4, allowed).sentence().find("info key soft=\"" + std::string(bad)) == 0);
  }
}

TEST_CASE("the answer to a spawn request is one line that a client can parse") {
  CHECK(spawn_answer({0, 0}, {4, 5}, {}) == "cmd=spawn_result rc=0 errcodes=0,0 places=4,5");
  CHECK(spawn_answer({}, {}, "no\nroom a=b") == "cmd=spawn_result rc=-1 errcodes=-1 msg=no room a:b");
  const std::string longest =
      spawn_answer(std::vector<int>(kMaxSpawnProcesses, -1), std::vector<std::uint32_t>(kMaxSpawnProcesses, 65535), {});
  CHECK(longest.size() < sim::kMaxPmiLineBytes);
  sim::PmiMessage message;
  CHECK(sim::PmiMessage::parse(longest, message).ok());
}

}  // namespace margay::command
