// Tests of stacks as text: folding, merging, and the explanation of the system's refusals.
#include "command/live/stacks/stack.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "command/live/stacks/held_process.hpp"
#include "command/live/stacks/unwind.hpp"

namespace margay::command {

namespace {

Frame program(const std::string& function, const std::string& location = "heat.c:41") {
  return {function, location, "heat"};
}
Frame library(const std::string& function) {
  return {function, "call.cpp:9", "libmpi.so.12"};
}
const Frame kStart{"_start", "", "heat"};
const Frame kLibcStart{"__libc_start_main", "libc-start.c:360", "libc.so.6"};
const Frame kPoll{"poll", "", "libc.so.6"};

std::string line(const Stack& stack) {
  return merged({{0, true, stack}}, false).at(0);
}

}  // namespace

TEST_CASE("a stack begins with main, and ends with the call of the library") {
  const Stack stack{kStart, kLibcStart, program("main"), library("PMPI_Recv"), library("margay::wait"), kPoll};
  CHECK(line(fold(stack, "")) == "rank 0: main (heat.c:41) > MPI_Recv");
}

TEST_CASE("a binding without a frame gets its name from the board; if that has none, the library's function remains") {
  const Stack stack{program("main"), library("margay::mpi_adi::blocking_receive"), kPoll};
  CHECK(is_unnamed_call(stack));
  CHECK(line(fold(stack, "MPI_Recv")) == "rank 0: main (heat.c:41) > MPI_Recv");
  CHECK(line(fold(stack, "")) == "rank 0: main (heat.c:41) > margay::mpi_adi::blocking_receive");
  CHECK_FALSE(is_unnamed_call({program("main"), library("MPI_Recv")}));
}

TEST_CASE("a function of the program that the library calls is shown, and so are the functions that it calls") {
  const Stack stack{program("main"), library("MPI_Reduce"), library("margay::reduce"), program("add", "heat.c:7"),
                    kPoll};
  CHECK(line(fold(stack, "")) == "rank 0: main (heat.c:41) > MPI_Reduce > add (heat.c:7) > poll");
}

TEST_CASE("the function of a thread that is a rank is not a call of the library") {
  const Stack stack{{"start_thread", "", "libc.so.6"}, library("margay_rank_thread"), program("work"), kPoll};
  CHECK_FALSE(is_unnamed_call(stack));
  CHECK(line(fold(stack, "MPI_Recv")) == "rank 0: work (heat.c:41) > poll");
}

TEST_CASE("a thread of the library's own shows no function of the program") {
  CHECK_FALSE(has_program({{"start_thread", "", "libc.so.6"}, library("margay::sim::Coprocessor"), kPoll}));
  CHECK(has_program({{"start_thread", "", "libc.so.6"}, program("worker"), kPoll}));
}

TEST_CASE("equal stacks are merged, those of most ranks first, threads last") {
  const Stack waits{program("main"), {"MPI_Recv", "", "libmpi.so.12"}};
  const Stack computes{program("main", "heat.c:7")};
  const std::vector<std::string> lines = merged({{3, true, computes},
                                                 {0, true, waits},
                                                 {1, true, waits},
                                                 {2, true, waits},
                                                 {5, true, waits},
                                                 {0, false, computes},
                                                 {4, true, {}}},
                                                false);
  CHECK(lines == std::vector<std::string>{"ranks 0-2,5: main (heat.c:41) > MPI_Recv", "rank 3: main (heat.c:7)",
                                          "rank 4: no frames could be read", "a thread of rank 0: main (heat.c:7)"});
  CHECK(merged({{1, true, waits}}, true).at(0) == "rank 1:\n    main (heat.c:41)\n    MPI_Recv");
  CHECK(ranges({4, 1, 2, 2, 9, 3}) == "1-4,9");
  CHECK(ranges({1, 0}) == "0,1");
}

TEST_CASE("ranks without a process are reported by their numbers") {
  CHECK(not_begun_text({3}) == "rank 3 has not begun MPI, so its process is not known; name the process instead");
  CHECK(not_begun_text({0, 1, 2}) ==
        "ranks 0-2 have not begun MPI, so their processes are not known; name a process instead");
}

TEST_CASE("the stacks of this command itself and of kernel threads are not available") {
  CHECK(why_without_stacks(::getpid()) == "is this command itself: name another one");
  CHECK(why_without_stacks(::getppid()).empty());
  std::ifstream name("/proc/2/comm");
  std::string comm;
  name >> comm;
  if (comm == "kthreadd") CHECK(why_without_stacks(2) == "is a thread of the kernel, which has no program");
}

TEST_CASE("the explanation of a refusal names the setting") {
  CHECK(refusal_text({.scope = 1, .error = ""}).find("sysctl kernel.yama.ptrace_scope=0") != std::string::npos);
  CHECK(refusal_text({.scope = 2, .error = ""}).find("only root") != std::string::npos);
  CHECK(refusal_text({.scope = 3, .error = ""}).find("until the next boot") != std::string::npos);
  CHECK(refusal_text({.scope = 0, .error = "Operation not permitted"}).starts_with("Operation not permitted: "));
  CHECK(
      refusal_text({.scope = 1, .tracer = 77, .error = ""}).find("process 77 (a debugger, or another margay stacks)") ==
      0);
  // Another user's process is refused for any scope.
  CHECK(refusal_text({.scope = 1, .owner = 4, .error = ""}) ==
        "it belongs to user 4: run margay stacks as that user, or as root");
}

TEST_CASE("only names mangled by C++ are demangled") {
  for (const char* const name : {"i", "d", "f", "main", "PKc", "_start"}) CHECK(function_name(name) == name);
  CHECK(function_name("_ZN4heat4stepEi") == "heat::step");
  CHECK(function_name("_ZN12_GLOBAL__N_14stepEv") == "{anonymous}::step");
  CHECK(function_name("_Zx") == "_Zx");
  CHECK(function_name("memcpy@@GLIBC_2.14") == "memcpy");
  CHECK(function_name("\x1b[2J") == "?[2J");
}

TEST_CASE("an ended process is reported as such, by its stacks and by its memory") {
  const int child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(child > 0);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  for (const bool gone : {false, true}) {
    CAPTURE(gone);
    if (gone) REQUIRE(::waitpid(child, nullptr, 0) == child);
    CHECK(HeldProcess().hold(child).sentence() == kHasEnded);
    CHECK(Unwinder(child).open().sentence() == kHasEnded);
    CHECK(why_refused(child, EACCES) == kHasEnded);
  }
}

}  // namespace margay::command
