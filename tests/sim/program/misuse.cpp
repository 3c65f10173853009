// Tests of each misuse of <margay/portals.hpp>, in a child process each. The misuse must be reported with its cure, by
// a Status, or by the last line of the process, which it ends (docs/portals_api.md has the table).
//
//   program_misuse             all; exit status 1 if one is not reported as it should be
//   program_misuse NAME        one, in this process
#include "misuse.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace margay;
using namespace margay::portals;

namespace {

// A full portal that holds arriving messages.
struct Held : Alone {
  Held() {
    program->hold_when_no_room(5);
    Sending first;
    if (!program->table().attach(5, large, {}).ok()) std::exit(2);
    send(first);
    while (!first.done()) program->progress();
  }
  void send(Sending& sending) {
    if (!program->start_put({.portal = 5}, Region(body.data(), body.size()), sending).ok()) std::exit(2);
  }
  std::vector<std::byte> body = std::vector<std::byte>(1 << 20);
  SingleBlock large{{body.data(), body.size()}};
};

// `act` inside compute(), where it is rejected.
Status computing(const std::function<Status(Alone&)>& act) {
  Alone run;
  Status status;
  run.program->compute([&] { status = act(run); });
  return status;
}

Status finished(const std::function<Status(Program&)>& act) {
  Alone run;
  if (!run.program->finish().ok()) std::exit(2);
  return act(*run.program);
}

std::vector<Misuse> of_calls() {
  return {
      {"second_program", "has a Program already",
       [] {
         Alone run;
         std::unique_ptr<Program> second;
         return Program::start(second);
       }},
      {"attach_far", "portal 99",
       [] {
         Alone run;
         return run.program->table().attach(99, run.block, {});
       }},
      {"attach_twice", "portal 4",
       [] {
         Alone run;
         return run.program->table().attach(4, run.block, {});
       }},
      {"attach_reserved", "portal 63 is margay's own; choose another portal",
       [] {
         Alone run;
         return run.program->table().attach(63, run.block, {});
       }},
      {"detach_reserved", "detach() of portal 63, which is margay's own",
       [] {
         Alone run;
         return run.program->table().detach(63), done();
       }},
      {"detach_far", "detach() of a portal past the table",
       [] {
         Alone run;
         return run.program->table().detach(64), done();
       }},
      {"attach_options", "a combined block always saves the body",
       [] {
         Alone run;
         CombinedBlock combined{Region(some())};
         return run.program->table().attach(5, combined, {.save = Save::header});
       }},
      {"put_far", "rank 7 is not in this job",
       [] {
         Alone run;
         return run.program->put({.destination = 7});
       }},
      {"put_portal", "portal 99 is not a program's",
       [] {
         Alone run;
         return run.program->put({.portal = 99});
       }},
      {"put_return", "return portal 63 is not a program's",
       [] {
         Alone run;
         return run.program->put({.return_portal = 63});
       }},
      {"put_no_memory", "no address",
       [] {
         Alone run;
         return run.program->put({.portal = 4}, Region(nullptr, 4));
       }},
      {"get_no_return", "a get needs a return portal",
       [] {
         Alone run;
         return run.program->get({.portal = 4}, 4);
       }},
  };
}

std::vector<Misuse> of_moments() {
  return {
      {"put_computing", "inside compute()",
       [] { return computing([](Alone& run) { return run.program->put({.portal = 4}); }); }},
      {"wait_computing", "inside compute()",
       [] { return computing([](Alone& run) { return run.program->wait_until([] { return true; }); }); }},
      {"settle_computing", "inside compute()",
       [] { return computing([](Alone& run) { return run.program->settle(); }); }},
      {"table_computing", "inside compute()",
       [] { return computing([](Alone& run) { return run.program->table().attach(5, run.block, {}); }); }},
      {"progress_computing", "inside compute()",
       [] { return computing([](Alone& run) { return run.program->progress(), done(); }); }},
      {"compute_computing", "inside compute()",
       [] { return computing([](Alone& run) { return run.program->compute([] {}), done(); }); }},
      {"put_finished", "finish() was", [] { return finished([](Program& program) { return program.put({}); }); }},
      {"barrier_finished", "finish() was", [] { return finished([](Program& program) { return program.barrier(); }); }},
      {"finish_finished", "finish() was", [] { return finished([](Program& program) { return program.finish(); }); }},
      {"progress_finished", "progress() after finish()",
       [] { return finished([](Program& program) { return program.progress(), done(); }); }},
  };
}

std::vector<Misuse> of_sendings() {
  return {
      {"hold_far", "hold_when_no_room()",
       [] {
         Alone run;
         run.program->hold_when_no_room(63);
         return done();
       }},
      {"sending_twice", "still on its way",
       [] {
         Held run;
         Sending sending;
         run.send(sending);
         const Status status = run.program->start_put({.portal = 4}, {}, sending);
         run.large.reset_local_offset();
         while (!sending.done()) run.program->progress();
         return status;
       }},
      {"sending_gone", "a Sending is destroyed",
       [] {
         Held run;
         Sending sending;
         run.send(sending);
         return done();
       }},
  };
}

[[noreturn]] void commit(const Misuse& misuse) {
  const Status status = misuse.act();
  std::fprintf(stderr, "%s\n", status.ok() ? "no error was reported" : status.sentence().c_str());
  std::exit(0);
}

// Runs a misuse in a child process. Returns whether it was reported.
bool reported(const Misuse& misuse) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    commit(misuse);
  }
  close(pipe_ends[1]);
  std::string output;
  std::array<char, 1024> some_words;
  for (ssize_t got; (got = read(pipe_ends[0], some_words.data(), some_words.size())) > 0;)
    output.append(some_words.data(), static_cast<std::size_t>(got));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const bool as_it_should = output.find(misuse.sentence) != std::string::npos &&
                            output.find("report it") == std::string::npos &&
                            (WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGABRT);
  if (!as_it_should)
    std::fprintf(stderr, "%s: wanted '%s', status %d: %s\n", misuse.name, misuse.sentence, status, output.c_str());
  return as_it_should;
}

}  // namespace

int main(int count, char** arguments) {
  int failures = 0;
  int seen = 0;
  for (const auto& group :
       {of_calls(), of_moments(), of_sendings(), of_heaps(), of_tables(), of_entries(), of_lists()}) {
    for (const Misuse& misuse : group) {
      if (count > 1 && std::string(arguments[1]) == misuse.name) commit(misuse);
      if (count > 1) continue;
      ++seen;
      failures += reported(misuse) ? 0 : 1;
    }
  }
  std::printf("%d misuses, %d not reported\n", seen, failures);
  return failures == 0 && count == 1 ? 0 : 1;
}
