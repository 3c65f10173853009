// A program of two ranks for tests/sim/program/reports.py:
//   reports wait     rank 0 sends a message and waits for an answer that is never sent, rank 1 for rank 0
//   reports leave    rank 1 ends without finish()
//   reports again    both start a second program after the first one's end, which is refused
//   reports count    five puts, one acknowledged, and a get
#include <margay/portals.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace margay;
using namespace margay::portals;

int main(int, char** arguments) {
  const std::string what = arguments[1];
  std::unique_ptr<Program> program;
  if (!Program::start(program).ok()) return 2;
  std::array<std::byte, 64> memory{};
  SingleBlock block(Buffer{memory.data(), memory.size()});
  SingleBlock window(Buffer{memory.data(), memory.size()});
  SingleBlock answers(Buffer{memory.data(), memory.size()});
  bool ok = program->table().attach(4, block, {.acknowledge = true}).ok() &&
            program->table().attach(5, window, {.direction = Direction::read_only}).ok() &&
            program->table().attach(6, answers, {}).ok() && program->barrier().ok();
  if (what == "wait" && program->rank() == 0) {
    ok = ok && program->put({.destination = 1, .portal = 4}, Region(memory.data(), 8)).ok() &&
         program->wait_until([] { return false; }).ok();
  }
  if (what == "wait") ok = program->barrier().ok();
  if (what == "leave" && program->rank() == 1) return 0;
  if (what == "count" && program->rank() == 0) {
    for (int i = 0; i < 4; ++i) ok = ok && program->put({.destination = 1, .portal = 4}, Region(memory.data(), 8)).ok();
    ok = ok && program->put({.destination = 1, .portal = 4, .return_portal = 6}, Region(memory.data(), 8)).ok();
    ok = ok && program->get({.destination = 1, .portal = 5, .return_portal = 6}, 16).ok();
    ok = ok && program->wait_until([&] { return answers.messages() == 2; }).ok();
  }
  ok = ok && program->finish().ok();
  if (what == "again") {
    program.reset();
    const Status second = Program::start(program);
    std::fprintf(stderr, "second: %s\n", second.ok() ? "started" : second.sentence().c_str());
  }
  return ok ? 0 : 1;
}
