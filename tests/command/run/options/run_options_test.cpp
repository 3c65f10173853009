#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "command/run/options/plan.hpp"
#include "command/run/options/run_options.hpp"
#include "command/run/options/tokens.hpp"
#include "sim/boot/parse.hpp"

using namespace margay;
using namespace margay::command;
using Tokens = std::vector<std::string>;

namespace {

Tokens tokens_of(const std::string& line) {
  Tokens out;
  REQUIRE(split_tokens(line, out).ok());
  return out;
}

RunOptions parsed(const std::string& line) {
  RunOptions options;
  const Status status = parse_run_options(tokens_of(line), options);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  return options;
}

std::string complaint(const std::string& line) {
  RunOptions options;
  return parse_run_options(tokens_of(line), options).sentence();
}

struct TemporaryFile {
  explicit TemporaryFile(const std::string& text) {
    char name[] = "/tmp/margay-test.XXXXXX";
    const int descriptor = ::mkstemp(name);
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    path = name;
    std::ofstream(path) << text;
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  std::string path;
};

}  // namespace

TEST_CASE("options have one dash or two, and optionally an equals sign") {
  for (const char* line : {"-n 4 a.out", "--n 4 a.out", "-np 4 a.out", "--np=4 a.out", "-n=4 -- a.out"}) {
    const RunOptions options = parsed(line);
    REQUIRE(options.programs.size() == 1);
    CHECK(options.programs[0].ranks == 4);
    CHECK(options.programs[0].argv == Tokens{"a.out"});
  }
}

TEST_CASE("the program's own arguments are not parsed") {
  const RunOptions options = parsed("-n 2 ./prog -n 9 --timeout x -l : -n 3 other --nodes");
  REQUIRE(options.programs.size() == 2);
  CHECK(options.programs[0].argv == Tokens{"./prog", "-n", "9", "--timeout", "x", "-l"});
  CHECK(options.programs[1].ranks == 3);
  CHECK(options.programs[1].argv == Tokens{"other", "--nodes"});
  CHECK(options.line_pattern.empty());
  CHECK(options.nodes == 1);
}

TEST_CASE("environment options set variables of the ranks") {
  const RunOptions options =
      parsed("-genv A 1 -genv B=2 -env C 3 -x D=4 -x HOME -genvlist P,Q -n 1 a : -env E 'two words' -n 1 b");
  CHECK(options.environment == Assignments{{"A", "1"}, {"B", "2"}, {"D", "4"}});
  CHECK(options.programs[0].environment == Assignments{{"C", "3"}});
  CHECK(options.programs[1].environment == Assignments{{"E", "two words"}});
  CHECK(options.inherited.listed);
  CHECK(options.inherited.names == Tokens{"P", "Q"});
  CHECK(parsed("-genvnone a").inherited.none);
}

TEST_CASE("margay's own options become variables of the ranks") {
  const RunOptions options = parsed(
      "--protocol long=rendezvous --protocol short_limit=1k --wait yield --heap 2m --wire-tcp epoll --trace /t a");
  CHECK(options.rank_options == Assignments{{"MARGAY_PROTOCOL", "long=rendezvous,short_limit=1k"},
                                            {"MARGAY_WAIT", "yield"},
                                            {"MARGAY_HEAP_BYTES", "2097152"},
                                            {"MARGAY_WIRE_TCP", "epoll"},
                                            {"MARGAY_TRACE", "/t"}});
  const RunOptions others = parsed(
      "--short-limit 4k --protocol=long=puma,short_limit=1 --method long=cma --stall 1:30 --trace-last 5s "
      "--trace-walks --trace a "
      "--trace "
      "b=c x");
  CHECK(others.rank_options == Assignments{{"MARGAY_PROTOCOL", "short_limit=4k,long=puma,short_limit=1"},
                                           {"MARGAY_METHOD", "long=cma"},
                                           {"MARGAY_STALL_SECONDS", "90"},
                                           {"MARGAY_TRACE_LAST_SECONDS", "5"},
                                           {"MARGAY_TRACE_WALKS", "1"},
                                           {"MARGAY_TRACE", "b=c"}});
  CHECK(others.notes.empty());
  CHECK(parsed("--collective bcast=hybrid,allreduce=hybrid:2sx4 a").rank_options ==
        Assignments{{"MARGAY_COLLECTIVE", "bcast=hybrid,allreduce=hybrid:2sx4"}});
  CHECK(parsed("--rma strided=paper a").rank_options == Assignments{{"MARGAY_RMA", "strided=paper"}});
  CHECK(parsed("-initial-errhandler mpi_errors_return a").rank_options ==
        Assignments{{"MARGAY_INITIAL_ERRHANDLER", "mpi_errors_return"}});
}

TEST_CASE("an invalid value of margay's own options is rejected with the option's name and the valid values") {
  CHECK(complaint("--protocol long=none a") ==
        "option --protocol: invalid value \"long=none\"; use long=puma|rendezvous,short_limit=SIZE");
  for (const std::string none :
       {"x", "5m", "m", "ms", "s", "min", "5 s", "5sec", "1:30ms", "1:30min", "0x5ms", "-1ms", "5msms"}) {
    CAPTURE(none);
    const std::string quoted = none == "5 s" ? "'5 s'" : none;
    CHECK(complaint("--stall " + quoted + " a") ==
          "option --stall: \"" + none +
              "\" is not a duration; write seconds (2.5), a number with ms, s or min (20ms), or h:m:s (1:30)");
  }
  for (const auto& [text, seconds] :
       {std::pair("20ms", "0.02"), std::pair("0.5ms", "0.0005"), std::pair("5s", "5"), std::pair("1.5min", "90"),
        std::pair("2", "2"), std::pair("1:0:1", "3601"), std::pair("1:30s", "90")}) {
    CHECK(parsed(std::string("--trace t --trace-last ") + text + " a").rank_options ==
          Assignments{{"MARGAY_TRACE", "t"}, {"MARGAY_TRACE_LAST_SECONDS", seconds}});
  }
  CHECK(complaint("--trace-last 0.0001ms a").find("is out of range") != std::string::npos);
  for (const std::string out_of_range : {"0", "1e-10", "9e-7", "1e9", "1e300"}) {
    CHECK(complaint("--trace-last " + out_of_range + " a") ==
          "option --trace-last: \"" + out_of_range + "\" is out of range; take from 1e-6 to 1e8 seconds");
  }
  CHECK(parsed("--trace t --trace-last 1e-6 a").rank_options ==
        Assignments{{"MARGAY_TRACE", "t"}, {"MARGAY_TRACE_LAST_SECONDS", "1e-06"}});
  for (const char* bad : {"--protocol long a",
                          "--protocol =puma a",
                          "--protocol short=puma a",
                          "--protocol short_limit=x a",
                          "--protocol long=puma,short_limit= a",
                          "--protocol '' a",
                          "--short-limit lots a",
                          "--method long=shm a",
                          "--method cma a",
                          "--rma strided=blocks a",
                          "--rma paper a",
                          "--collective bcast=hybrid: a",
                          "--collective bcast=hybrids a",
                          "--collective bcast=tree:2x4 a",
                          "--collective barrier=hybrid:2x4 a",
                          "--method lng=cma a",
                          "--wire-tcp rdma a",
                          "--wait never a",
                          "--initial-errhandler returns a",
                          "--heap -1 a",
                          "--heap 1q a",
                          "--stall 0 a",
                          "--stall -1 a",
                          "--stall nan a",
                          "--stall 5m a",
                          "--stall s a",
                          "--trace-last -1s a"}) {
    CHECK_MESSAGE(complaint(bad).find("option --") == 0, bad);
  }
}

TEST_CASE("a heap and a short limit out of their ranges are reported with the range") {
  CHECK(complaint("--heap 1000 a") == "option --heap: 1000 bytes cannot hold a message; the minimum is 65536 (64k)");
  CHECK(complaint("--heap 0 a").find("the minimum is 65536") != std::string::npos);
  CHECK(parsed("--heap 64k a").rank_options == Assignments{{"MARGAY_HEAP_BYTES", "65536"}});
  const std::string range = " is not from 1 to a quarter of the heap of ";
  CHECK(complaint("--protocol short_limit=0 a") ==
        "option --protocol: short_limit=0" + range + "67108864 bytes (--heap)");
  CHECK(complaint("--short-limit 999g a").find("short_limit=999g" + range) != std::string::npos);
  CHECK(complaint("--short-limit 16385 --heap 64k a").find(range + "65536") != std::string::npos);
  CHECK(complaint("--heap 64k --short-limit 16385 a").find(range + "65536") != std::string::npos);
  CHECK(complaint("--short-limit 16384 --heap 64k a").empty());
  CHECK(complaint("--short-limit 16m a").empty());
}

TEST_CASE("places are those of Hydra and Open MPI, and no others") {
  for (const char* option : {"-bind-to", "-map-by"}) {
    const std::string line(option);
    CHECK(complaint(line + " foo a").find("option " + line + ": invalid value \"foo\"; use ") == 0);
    for (const char* place : {"none", "core", "core:2", "socket", "numa:1", "hwthread", "l3cache", "board", "machine",
                              "rr", "user:0+2,1+4", "gpu0", "eth:1", "slot", "ppr:2:node", "node:PE=2"}) {
      CHECK_MESSAGE(complaint(line + " " + place + " a").empty(), place);
    }
  }
  CHECK_FALSE(complaint("-rank-by zz a").empty());
  CHECK(complaint("--rank-by fill a").empty());
}

TEST_CASE("a pattern of file names accepts Hydra's letters after %") {
  for (const char* option : {"-outfile-pattern", "-errfile-pattern"}) {
    const std::string line(option);
    for (const char* good : {"out", "out.%r", "%h-%g.%p", "100%%"})
      CHECK_MESSAGE(complaint(line + " " + good + " a").empty(), good);
    for (const char* bad : {"x%q", "x%", "%r%%%"}) {
      CHECK_MESSAGE(complaint(line + " " + bad + " a").find("option " + line + ": invalid letter \"") == 0, bad);
    }
  }
}

TEST_CASE("an empty value is reported, not taken for a missing option") {
  CHECK(complaint("--trace= a") == "option --trace=: its value is empty; name a folder, a new one for each run");
  CHECK(complaint("--iface= a").find("option --iface=: its value is empty") == 0);
}

TEST_CASE("the help explains the status of an exit code whose low eight bits are 0") {
  CHECK(run_help().find("An exit status has 8 bits: a failing code whose low 8 bits are 0") != std::string::npos);
}

TEST_CASE("spellings of other launchers are accepted") {
  const RunOptions options = parsed(
      "--oversubscribe --allow-run-as-root --tag-output --timeout 1:30 -bind-to core -map-by socket -launcher ssh "
      "-iface lo -print-all-exitcodes -host localhost -ppn 2 -outfile-pattern out.%r -np 2 a");
  CHECK(options.line_pattern == "[%r] ");
  CHECK(options.timeout_seconds == 90);
  CHECK(options.bind_to == BindTo::core);
  CHECK(options.print_exit_codes);
  CHECK(options.output_pattern == "out.%r");
  CHECK(options.notes.size() == 6);
}

TEST_CASE("an invalid option or value is named") {
  CHECK(complaint("-tmeout 3 a").find("did you mean --timeout?") != std::string::npos);
  CHECK(complaint("--nodse 2 a").find("did you mean --nodes?") != std::string::npos);
  CHECK(complaint("--qqqqqqqq a") == "unknown option --qqqqqqqq (`margay run --help` lists them)");
  for (const char* bad : {"-n 0 a", "-n x a", "-n -3 a", "-n 65537 a", "-n 4294967297 a", "--nodes 0 a"}) {
    CHECK_MESSAGE(complaint(bad).find("is not a number from 1 to") != std::string::npos, bad);
  }
  for (const char* bad : {"",
                          "-n",
                          "-n 2",
                          "-n 2 a :",
                          ": a",
                          "-n 2 a : -n 2",
                          "-l",
                          "-genv A",
                          "--wait never a",
                          "--heap x a",
                          "--mpi open a",
                          "--timeout 0 a",
                          "--timeout -1 a",
                          "--timeout nan a",
                          "-hosts elsewhere a",
                          "-f /nonexistent a",
                          "-configfile /nonexistent",
                          "--nodes 3 -n 2 a",
                          "-n 40000 a : -n 40000 b",
                          "-l=3 a",
                          "-env =x y a"}) {
    CHECK_MESSAGE(!complaint(bad).empty(), bad);
  }
}

TEST_CASE("options of a recording are rejected without a recording") {
  for (const std::string option : {"--trace-walks", "--trace-events 9", "--trace-last 5s"}) {
    CAPTURE(option);
    CHECK(complaint(option + " a").find(option.substr(0, option.find(' ')) + " has no effect without --trace") !=
          std::string::npos);
    for (const std::string records : {"--trace t ", "-genv MARGAY_TRACE t ", "-env MARGAY_TRACE=t "}) {
      CHECK(complaint(records + option + " a").empty());
    }
    CHECK(complaint(option + " a : -env MARGAY_TRACE t b").empty());
  }
}

TEST_CASE("variables of a recording cause a warning without a recording") {
  for (const char* const variable : {"MARGAY_TRACE_EVENTS", "MARGAY_TRACE_LAST_SECONDS", "MARGAY_TRACE_WALKS"}) {
    CAPTURE(variable);
    ::setenv(variable, "1", 1);
    CHECK(parsed("a").warnings.size() == 1);
    CHECK(parsed("--trace t a").warnings.empty());
    ::unsetenv(variable);
    CHECK(parsed("a").warnings.empty());
  }
}

TEST_CASE("an option that took the program as its value is named") {
  CHECK(complaint("-n 2 --trace ./ring").find("\"./ring\" is the value of --trace") != std::string::npos);
  CHECK(complaint("-n 2 a : -wdir ./ring").find("\"./ring\" is the value of -wdir") != std::string::npos);
  CHECK(complaint("-n 2 a : --trace=./ring -l").find("is the value of") == std::string::npos);
}

TEST_CASE("options that only affect sockets cause a note on one node") {
  CHECK(parsed("--iface lo --wire-tcp epoll -ppn 2 a").notes.size() == 3);
  CHECK(parsed("-n 4 --nodes 2 --iface lo --wire-tcp epoll -ppn 2 a").notes.empty());
}

TEST_CASE("each line of a configuration file is a section of the command line") {
  const TemporaryFile file("# two programs\n-n 2 ./a 'one argument' x\n\n-n 1 -env K V ./b\n");
  const RunOptions options = parsed("-l -configfile " + file.path);
  REQUIRE(options.programs.size() == 2);
  CHECK(options.line_pattern == "[%r] ");
  CHECK(options.programs[0].argv == Tokens{"./a", "one argument", "x"});
  CHECK(options.programs[1].environment == Assignments{{"K", "V"}});
  const TemporaryFile itself("-n 1 a\n-configfile /dev/null\n");
  CHECK_FALSE(complaint("-configfile " + itself.path).empty());
  const TemporaryFile open_quote("-n 1 'a\n");
  CHECK(complaint("-configfile " + open_quote.path).find("does not end") != std::string::npos);
}

TEST_CASE("a host file must name this host") {
  const TemporaryFile here("# comment\nlocalhost:4\n127.0.0.1 slots=2\n");
  CHECK(parsed("-f " + here.path + " a").hosts.size() == 2);
  const TemporaryFile there("localhost\nnode17\n");
  CHECK(complaint("-f " + there.path + " a").find("\"node17\" is not this one") != std::string::npos);
}

TEST_CASE("random command lines are parsed or rejected, without other faults") {
  std::mt19937 random(11);
  const Tokens pool = {"-n",    "2",      ":",         "a",           "--",        "-",       "",
                       "-genv", "A=B",    "=",         "-configfile", "/dev/null", "-l",      "--timeout",
                       "1e9",   "-hosts", "localhost", "--=",         "-x",        "--nodes", "-env"};
  for (int round = 0; round < 20000; ++round) {
    Tokens line;
    for (std::size_t i = random() % 8; i > 0; --i) line.push_back(pool[random() % pool.size()]);
    RunOptions options;
    const bool good = parse_run_options(line, options).ok();
    if (good) CHECK_FALSE(options.programs.empty());
  }
}

TEST_CASE("ranks are placed in blocks on nodes, with one more on each of the first nodes") {
  using Nodes = std::vector<std::uint32_t>;
  CHECK(make_plan(parsed("-n 5 --nodes 2 a")).node_of_rank == Nodes{0, 0, 0, 1, 1});
  CHECK(make_plan(parsed("-n 4 --nodes 4 a")).node_of_rank == Nodes{0, 1, 2, 3});
  CHECK(make_plan(parsed("-n 6 --nodes 2 -ppn 2 a")).node_of_rank == Nodes{0, 0, 1, 1, 0, 0});
  const JobPlan plan = make_plan(parsed("-n 2 a : -n 1 b"));
  CHECK(plan.program_of_rank == Nodes{0, 0, 1});
  CHECK(plan.node_count == 1);
  CHECK(plan.ranks_of_node() == Nodes{3});
}

TEST_CASE("a job has places for processes that start later, on all nodes in turn") {
  using Nodes = std::vector<std::uint32_t>;
  CHECK(parsed("a").places == 0);
  CHECK(parsed("-n 2 --places 7 a").places == 7);
  CHECK(complaint("--places 0 a").find("--places") != std::string::npos);
  CHECK(complaint("--places 65537 a").find("65536") != std::string::npos);
  JobPlan plan = make_plan(parsed("-n 3 --nodes 2 a"));
  CHECK(plan.places() == 3);
  add_places(plan, 6);
  CHECK(plan.size() == 3);
  CHECK(plan.node_of_place == Nodes{0, 0, 1, 0, 1, 0});
  CHECK(plan.ranks_of_node() == Nodes{2, 1});
  CHECK(plan.places_of_node() == Nodes{4, 2});
  CHECK(usual_places(1, 1) == 9);
  CHECK(usual_places(8, 1) == 32);
  CHECK(usual_places(100, 1) == 164);
  CHECK(usual_places(1000, 1) == 1023);
  CHECK(usual_places(1024, 1) == 1024);
  CHECK(usual_places(65536, 64) == 65536);
}

TEST_CASE("with --threads a process has several ranks, on one node") {
  using Numbers = std::vector<std::uint32_t>;
  const RunOptions options = parsed("-n 2 --threads 3 --nodes 2 a : -n 1 b");
  CHECK(options.programs[0].ranks == 6);
  CHECK(options.programs[1].ranks == 3);
  const JobPlan plan = make_plan(options);
  CHECK(plan.process_ranks == 3);
  CHECK(plan.size() == 9);
  CHECK(plan.program_of_rank == Numbers{0, 0, 0, 0, 0, 0, 1, 1, 1});
  CHECK(plan.node_of_rank == Numbers{0, 0, 0, 0, 0, 0, 1, 1, 1});
  CHECK(plan.first_of_process(5) == 3);
  CHECK(make_plan(parsed("-n 3 --threads 2 --nodes 2 -ppn 1 a")).node_of_rank == Numbers{0, 0, 1, 1, 0, 0});
  CHECK(parsed("a").threads == 1);
  // Standard input is assigned to processes.
  CHECK(parsed("-n 3 --threads 2 -s 1,4-5 a").input_ranks == Numbers{0, 4});
  CHECK(parsed("-n 3 --threads 2 -s all a").input_ranks == Numbers{0, 2, 4});
  CHECK(complaint("-n 2 --threads 0 a").find("--threads") != std::string::npos);
  CHECK(complaint("-n 2 --threads 257 a").find("256") != std::string::npos);
  CHECK(complaint("-n 1024 --threads 65 a").find("66560 ranks") != std::string::npos);
  CHECK(complaint("-n 2 --threads 4 --nodes 3 a").find("the 2 processes") != std::string::npos);
  CHECK(complaint("-n 2 --threads 4 --mpi system a").find("--threads") != std::string::npos);
}

TEST_CASE("the nearest spelling is similar, or there is none") {
  CHECK(sim::nearest_spelling("tiemout", {"timeout", "time"}) == "timeout");
  CHECK(sim::nearest_spelling("x", {"abc"}).empty());
  CHECK(sim::nearest_spelling(std::string(1000, 'x'), {"abc"}).empty());
}
