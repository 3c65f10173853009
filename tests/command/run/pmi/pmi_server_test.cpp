#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>

#include "command/run/pmi/pmi_server.hpp"

using namespace margay;
using namespace margay::command;

namespace {

PmiServer make_server(std::uint32_t ranks) {
  return PmiServer("kvs_t", std::vector<std::uint32_t>(ranks, 1), std::vector<std::uint32_t>(ranks, 0));
}

// The names of other jobs, as a table.
struct TableOfNames final : NameStore {
  std::map<std::string, std::string, std::less<>> others;
  std::map<std::string, std::string, std::less<>> own;
  std::string fault;
  int uses = 0;

  portals::Status publish(std::string_view service, std::string_view port) override {
    ++uses;
    if (others.contains(service)) return portals::Status::error("launcher 4711, a=b");
    own.emplace(service, port);
    return {};
  }
  portals::Status lookup(std::string_view service, std::string& port) override {
    ++uses;
    port.clear();
    if (!fault.empty()) return portals::Status::error(fault);
    if (const auto found = others.find(service); found != others.end()) port = found->second;
    return {};
  }
  void unpublish(std::string_view service) override {
    ++uses;
    own.erase(std::string(service));
  }
};

std::string answer(PmiServer& server, std::uint32_t rank, std::string_view line) {
  const PmiOutcome outcome = server.take_line(rank, line);
  REQUIRE(outcome.replies.size() == 1);
  REQUIRE(outcome.replies[0].rank == rank);
  CHECK(outcome.error.empty());
  return outcome.replies[0].line;
}

TEST_CASE("a request for the place of a process of another job names the process, or is answered") {
  PmiServer server("kvs_t", {0}, {0}, 4);
  const auto guest = server.take_line(0, "cmd=margay_guest job=18446744073709551615 place=7").guest;
  REQUIRE(guest);
  CHECK(*guest == sim::Endpoint{18'446'744'073'709'551'615U, 7});
  CHECK(server.take_line(0, "cmd=margay_guest_gone place=3").gone_guest == 3U);
  for (const std::string_view bad : {"margay_guest", "margay_guest job=1", "margay_guest job=x place=1",
                                     "margay_guest job=-1 place=1", "margay_guest job=1 place=4294967296",
                                     "margay_guest_gone", "margay_guest_gone place=", "margay_guest_gone place=-1"}) {
    const std::string line = "cmd=" + std::string(bad);
    CAPTURE(line);
    CHECK(answer(server, 0, line).find("cmd=margay_guest_result rc=-1 msg=") == 0);
  }
}

}  // namespace

TEST_CASE("the server gives the answers that Hydra gives") {
  PmiServer server = make_server(2);
  CHECK(answer(server, 0, "cmd=init pmi_version=1 pmi_subversion=1") ==
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  CHECK(answer(server, 0, "cmd=get_maxes") == "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
  CHECK(answer(server, 0, "cmd=get_appnum") == "cmd=appnum appnum=1\n");
  CHECK(answer(server, 0, "cmd=get_my_kvsname") == "cmd=my_kvsname kvsname=kvs_t\n");
  CHECK(answer(server, 0, "cmd=get kvsname=kvs_t key=PMI_process_mapping") ==
        "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n");
  CHECK(answer(server, 0, "cmd=put kvsname=kvs_t key=card0 value=a;b#c:1") == "cmd=put_result rc=0 msg=success\n");
  CHECK(answer(server, 1, "cmd=get kvsname=kvs_t key=card0") == "cmd=get_result rc=0 msg=success value=a;b#c:1\n");
  CHECK(answer(server, 1, "cmd=get kvsname=kvs_t key=nosuch") ==
        "cmd=get_result rc=-1 msg=key_nosuch_not_found value=unknown\n");
  CHECK(answer(server, 1, "cmd=finalize") == "cmd=finalize_ack\n");
  CHECK(server.initialized(0));
  CHECK_FALSE(server.initialized(1));
  CHECK(server.finalized(1));
}

TEST_CASE("a barrier releases all ranks when the last has arrived, any number of times") {
  PmiServer server = make_server(3);
  for (int round = 0; round < 3; ++round) {
    CHECK(server.take_line(0, "cmd=barrier_in").replies.empty());
    CHECK(server.take_line(2, "cmd=barrier_in").replies.empty());
    const PmiOutcome last = server.take_line(1, "cmd=barrier_in");
    REQUIRE(last.replies.size() == 3);
    for (const PmiReply& reply : last.replies) CHECK(reply.line == "cmd=barrier_out\n");
  }
  CHECK(server.take_line(0, "cmd=barrier_in").error.empty());
  CHECK(server.take_line(0, "cmd=barrier_in").error.find("rank 0 entered the PMI barrier twice") != std::string::npos);
}

TEST_CASE("the server enforces limits") {
  PmiServer server = make_server(1);
  CHECK(answer(server, 0, "cmd=put key=k value=" + std::string(1024, 'v')).find("rc=0") != std::string::npos);
  CHECK(answer(server, 0, "cmd=put key=l value=" + std::string(1025, 'v')).find("rc=-1") != std::string::npos);
  CHECK(answer(server, 0, "cmd=put key=" + std::string(65, 'k') + " value=v").find("rc=-1") != std::string::npos);
  CHECK(answer(server, 0, "cmd=put value=v").find("rc=-1") != std::string::npos);
  int accepted = 0;
  for (int i = 0; i < 1000; ++i) {
    accepted += answer(server, 0, "cmd=put key=n" + std::to_string(i) + " value=v").find("rc=0") != std::string::npos;
  }
  CHECK(accepted < 300);
}

TEST_CASE("the server handles abort and spawn") {
  PmiServer server = make_server(1);
  const PmiOutcome abort = server.take_line(0, "cmd=abort exitcode=17 error_msg=no more fuel");
  CHECK(abort.aborts);
  CHECK(abort.abort_code == 17);
  CHECK(abort.abort_message == "no more fuel");
  CHECK(!abort.second_program);
  CHECK(server.take_line(0, "cmd=abort exitcode=1 second_program=1").second_program);
  CHECK(server.take_line(0, "mcmd=spawn").replies.empty());
  CHECK(server.take_line(0, "nprocs=1").error.empty());
  CHECK(server.take_line(0, "arg1=-x -y").error.empty());
  CHECK(answer(server, 0, "endcmd").find("cmd=spawn_result rc=-1") == 0);
  CHECK(answer(server, 0, "cmd=get_maxes").find("cmd=maxes") == 0);
}

TEST_CASE("invalid lines name the rank and do not affect other ranks") {
  PmiServer server = make_server(4);
  CHECK(server.take_line(3, "nonsense").error.find("rank 3 sent a bad PMI line") != std::string::npos);
  CHECK(server.take_line(2, "cmd=dance").error.find("rank 2 sent the PMI command \"dance\"") != std::string::npos);
  CHECK(server.take_line(1, "key=x").error.find("rank 1") != std::string::npos);
  std::mt19937 random(3);
  const std::string_view pieces[] = {"cmd=",
                                     "put ",
                                     "key=",
                                     "value=",
                                     "get",
                                     "barrier_in",
                                     "mcmd=spawn",
                                     " ",
                                     "endcmd",
                                     "abort",
                                     "exitcode=99999999999",
                                     "service=",
                                     "publish_name",
                                     "\n",
                                     "=",
                                     "finalize"};
  for (int round = 0; round < 20000; ++round) {
    std::string line;
    for (std::size_t i = random() % 6; i > 0; --i) line += pieces[random() % std::size(pieces)];
    const PmiOutcome outcome = server.take_line(static_cast<std::uint32_t>(random() % 4), line);
    for (const PmiReply& reply : outcome.replies) CHECK(reply.line.back() == '\n');
  }
}

TEST_CASE("a spawn request is passed on whole, and an incomplete or bad one is answered") {
  PmiServer server = make_server(2);
  for (const std::string_view line :
       {"mcmd=spawn", "nprocs=2", "execname=./a b", "arg1=cmd=abort", "argcnt=1", "totspawns=1", "spawnssofar=1"}) {
    const PmiOutcome outcome = server.take_line(0, line);
    CHECK(outcome.replies.empty());
    CHECK(outcome.error.empty());
    CHECK(!outcome.spawn);
  }
  const PmiOutcome whole = server.take_line(0, "endcmd");
  CHECK(whole.replies.empty());
  REQUIRE(whole.spawn);
  CHECK(whole.spawn->commands[0].program == "./a b");
  CHECK(whole.spawn->commands[0].arguments == std::vector<std::string>{"cmd=abort"});
  CHECK(server.take_line(0, "mcmd=spawn").error.empty());
  CHECK(answer(server, 0, "endcmd").find("cmd=spawn_result rc=-1 errcodes=-1 msg=the spawn request lacks nprocs") == 0);
  for (const std::string_view line :
       {"mcmd=spawn", "nprocs=1", "execname=a", "totspawns=2", "spawnssofar=1", "endcmd"}) {
    CHECK(server.take_line(1, line).error.empty());
  }
  CHECK(server.take_line(1, "cmd=get_maxes").error.find("rank 1 sent a part of a spawn request") == 0);
  // The same inside a block; its memory is free then, and the rank's next request is read from its beginning.
  for (int i = 0; i < 3; ++i) {
    CHECK(server.take_line(1, "mcmd=spawn").error.empty());
    CHECK(server.take_line(1, "execname=a").error.empty());
    CHECK(server.take_line(1, "cmd=get_maxes").error.find("rank 1 sent a part of a spawn request") == 0);
  }
  for (const std::string_view line : {"mcmd=spawn", "nprocs=1", "execname=a", "totspawns=1", "spawnssofar=1"}) {
    CHECK(server.take_line(1, line).error.empty());
  }
  CHECK(server.take_line(1, "endcmd").spawn);
}

TEST_CASE("each world has its own keys and barrier, and its keys can be read by name") {
  PmiServer server("kvs_t", {0, 0}, {0, 0}, 5);
  CHECK(answer(server, 0, "cmd=get_universe_size") == "cmd=universe_size size=5\n");
  CHECK(server.take_line(3, "cmd=init").error.find("rank 3 has not been started") == 0);
  CHECK(answer(server, 1, "cmd=put kvsname=kvs_t key=k value=first").find("rc=0") != std::string::npos);
  server.begin_world({{2, 4}, {0, 1}, {0, 0}, {{"PARENT_ROOT_PORT_NAME", "port"}}});
  CHECK(answer(server, 4, "cmd=get_appnum") == "cmd=appnum appnum=1\n");
  CHECK(answer(server, 4, "cmd=get_my_kvsname") == "cmd=my_kvsname kvsname=kvs_t_1\n");
  CHECK(answer(server, 2, "cmd=get kvsname=kvs_t_1 key=PARENT_ROOT_PORT_NAME").find("value=port") != std::string::npos);
  CHECK(answer(server, 2, "cmd=get kvsname=kvs_t_1 key=k").find("rc=-1") != std::string::npos);
  CHECK(answer(server, 2, "cmd=put kvsname=kvs_t_1 key=k value=second").find("rc=0") != std::string::npos);
  CHECK(answer(server, 0, "cmd=get kvsname=kvs_t_1 key=k").find("value=second") != std::string::npos);
  CHECK(answer(server, 2, "cmd=get kvsname=kvs_t key=k").find("value=first") != std::string::npos);
  CHECK(server.take_line(2, "cmd=barrier_in").replies.empty());
  CHECK(server.take_line(0, "cmd=barrier_in").replies.empty());
  const PmiOutcome released = server.take_line(4, "cmd=barrier_in");
  REQUIRE(released.replies.size() == 2);
  CHECK(released.replies[0].rank == 2);
  CHECK(released.replies[1].rank == 4);
  CHECK(server.take_line(1, "cmd=barrier_in").replies.size() == 2);
}

TEST_CASE("a process that gets an ended one's place starts anew at the server") {
  PmiServer server("kvs_t", {0}, {0}, 2);
  server.begin_world({{1}, {0}, {0}, {}});
  CHECK(answer(server, 1, "cmd=init").find("rc=0") != std::string::npos);
  CHECK(answer(server, 1, "cmd=put key=card-1 value=a").find("rc=0") != std::string::npos);
  CHECK(answer(server, 1, "cmd=finalize") == "cmd=finalize_ack\n");
  server.begin_world({{1}, {0}, {0}, {}});
  CHECK(!server.initialized(1));
  CHECK(!server.finalized(1));
  CHECK(answer(server, 1, "cmd=get_my_kvsname") == "cmd=my_kvsname kvsname=kvs_t_2\n");
  CHECK(answer(server, 1, "cmd=put key=card-1 value=b").find("rc=0") != std::string::npos);
}

TEST_CASE("a request to end processes names places, or is answered") {
  PmiServer server("kvs_t", {0}, {0}, 4);
  CHECK(server.take_line(0, "cmd=margay_kill places=1,3").kill == std::vector<std::uint32_t>{1, 3});
  for (const std::string_view bad : {"places=0", "places=4", "places=1,x", "places=", "", "places=1,0"}) {
    const std::string line = "cmd=margay_kill " + std::string(bad);
    CAPTURE(line);
    CHECK(answer(server, 0, line).find("cmd=margay_kill_result rc=-1 msg=") == 0);
  }
}

TEST_CASE("names of other jobs are found behind the job's own, and cannot be published or withdrawn") {
  TableOfNames table;
  table.others["ocean"] = "theirs";
  PmiServer server("kvs_t", {0, 0}, {0, 0}, 0, &table);
  CHECK(answer(server, 0, "cmd=put key=k value=v").find("rc=0") != std::string::npos);
  CHECK(table.uses == 0);
  CHECK(answer(server, 1, "cmd=lookup_name service=ocean") == "cmd=lookup_result rc=0 msg=success port=theirs\n");
  CHECK(answer(server, 0, "cmd=publish_name service=ocean port=p") ==
        "cmd=publish_result rc=-1 msg=service_is_published why=launcher%204711,%20a%3db\n");
  CHECK(answer(server, 0, "cmd=unpublish_name service=ocean") == "cmd=unpublish_result rc=-1 msg=service_not_found\n");
  CHECK(answer(server, 1, "cmd=lookup_name service=ocean").find("port=theirs") != std::string::npos);

  CHECK(answer(server, 0, "cmd=publish_name service=sea port=ours") == "cmd=publish_result rc=0 msg=success\n");
  CHECK(table.own.find("sea")->second == "ours");
  table.others["sea"] = "theirs";
  const int uses = table.uses;
  CHECK(answer(server, 1, "cmd=lookup_name service=sea").find("port=ours") != std::string::npos);
  CHECK(answer(server, 1, "cmd=publish_name service=sea port=p") ==
        "cmd=publish_result rc=-1 msg=service_is_published\n");
  CHECK(answer(server, 1, "cmd=publish_name service= port=p").find("rc=-1") != std::string::npos);
  CHECK(answer(server, 1, "cmd=lookup_name service=").find("rc=-1") != std::string::npos);
  CHECK(table.uses == uses);
  CHECK(answer(server, 1, "cmd=unpublish_name service=sea").find("rc=0") != std::string::npos);
  CHECK(table.own.empty());
  CHECK(answer(server, 1, "cmd=lookup_name service=sea").find("port=theirs") != std::string::npos);
}

TEST_CASE("a lookup that finds nothing has the reason if names of other jobs cannot be read") {
  TableOfNames table;
  table.fault = "the folder /a b=c is " + std::string(5000, 'x');
  PmiServer server("kvs_t", {0}, {0}, 0, &table);
  const std::string refused = answer(server, 0, "cmd=lookup_name service=ocean");
  CHECK(refused.find("rc=-1 msg=service_not_found why=the%20folder%20/a%20b%3dc%20is%20x") != std::string::npos);
  CHECK(refused.size() < 1024);  // a line of other clients
  CHECK(answer(server, 0, "cmd=publish_name service=ocean port=p").find("rc=0") != std::string::npos);
  CHECK(answer(server, 0, "cmd=lookup_name service=ocean").find("port=p") != std::string::npos);
}
