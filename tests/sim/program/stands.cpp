// A program of two ranks for tests/sim/program/stands.py. Rank 0 changes its match list and its heap step by step and
// prints their contents after each step, as one line of JSON; then rank 1's mark of the step arrives. So the trace's
// state at the arrival of mark k must equal line k.
#include <margay/portals.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace margay;
using namespace margay::portals;

namespace {

constexpr PortalIndex kDesk = 4, kMarks = 9;
constexpr int kMessages = 5;  // of 1, 2, ... bytes

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + '"';
  return "[" + text + "]";
}

struct Desk {
  alignas(64) std::array<std::byte, 8192> heap{};
  std::array<std::byte, 64> row{};
  DynamicBlock block{Buffer{heap.data(), heap.size()}};
  SingleBlock rows{Buffer{row.data(), row.size()}};
  SingleBlock own{Buffer{row.data(), row.size()}};
  SingleBlock marks{Buffer{}};
  MatchEntry odd{{.match_bits = 0xa}, rows, {}}, even{{.match_bits = 0xb}, rows, {}};
  MatchEntry first{{.match_bits = 0xc, .source_rank = 1}, rows, {}}, spare{{.match_bits = 0xd}, rows, {}};
  MatchEntry wide{{.ignore_bits = ~MatchBits{0}}, rows, {}};
  MatchEntry overflow{{.match_bits = 0x100, .ignore_bits = 0xff}, block, {.save = Save::both}};
  MatchList list;
  std::map<const MatchEntry*, std::string> names = {{&odd, "odd"},     {&even, "even"}, {&first, "first"},
                                                    {&spare, "spare"}, {&wide, "wide"}, {&overflow, "overflow"}};
  std::vector<std::string> adopted;
  bool is_list = false, is_own = false;
  ArrivedMessage* unqueued = nullptr;  // removed from the queue, not released

  void write_down() const {
    std::vector<std::string> chain, inactive;
    for (const MatchEntry* entry = list.first(); is_list && entry != nullptr; entry = list.next(*entry)) {
      chain.push_back(names.at(entry));
      if (!entry->active()) inactive.push_back(names.at(entry));
    }
    std::string queued;
    unsigned long long bytes = 0;
    for (const ArrivedMessage* message = block.first(); message != nullptr; message = block.next(*message)) {
      queued += (queued.empty() ? "" : ", ") + std::to_string(message->header.match_bits);
      bytes += message->header.length;
    }
    if (unqueued != nullptr) bytes += unqueued->header.length;
    std::printf(R"({"list": %s, "adopted": %s, "inactive": %s, "own": %s, "queued": [%s], "bytes": %llu})"
                "\n",
                quoted(chain).c_str(), quoted(is_list ? adopted : std::vector<std::string>()).c_str(),
                quoted(inactive).c_str(), is_own ? "true" : "false", queued.c_str(), bytes);
  }
};

// Rank 0's actions before each mark.
std::vector<std::function<bool(Program&, Desk&)>> steps() {
  return {
      [](Program&, Desk&) { return true; },
      [](Program& program, Desk& desk) {
        desk.list.append(desk.odd);
        desk.list.append(desk.overflow);
        desk.list.adopt(desk.spare);
        desk.list.adopt(desk.wide);
        desk.adopted = {"spare", "wide"};
        desk.is_list = true;
        return program.table().attach(kDesk, desk.list).ok();
      },
      [](Program&, Desk& desk) {
        desk.list.insert_before(desk.overflow, desk.even);
        desk.list.insert_before(desk.odd, desk.first, MatchList::Start::inactive);
        return true;
      },
      [](Program& program, Desk& desk) {
        return program.wait_until([&] { return desk.block.queued() == kMessages; }).ok();
      },
      [](Program&, Desk& desk) {
        desk.block.release(*desk.block.first());
        desk.unqueued = desk.block.next(*desk.block.first());
        desk.block.unlink(*desk.unqueued);
        return true;
      },
      [](Program&, Desk& desk) {
        desk.list.remove(desk.odd);
        desk.list.remove(desk.spare);
        desk.adopted = {"wide"};
        desk.list.activate(desk.first);
        desk.list.deactivate(desk.even);
        return true;
      },
      [](Program&, Desk& desk) {
        desk.list.append(desk.odd);
        desk.list.insert_before(desk.even, desk.spare);
        desk.adopted = {"wide"};
        desk.list.activate(desk.even);
        desk.block.release(*desk.unqueued);
        desk.unqueued = nullptr;
        return true;
      },
      [](Program& program, Desk& desk) {
        program.table().detach(kDesk);
        desk.is_list = false;
        desk.is_own = true;
        return program.table().attach(kDesk, desk.own, {}).ok();
      },
  };
}

}  // namespace

int main() {
  std::unique_ptr<Program> program;
  if (!Program::start(program).ok()) return 2;
  Desk desk;
  for (const auto& [entry, name] : desk.names) program->name(*entry, name);
  program->name(kDesk, "desk");
  bool ok = program->table().attach(kMarks, desk.marks, {.save = Save::header}).ok() && program->barrier().ok();
  std::array<std::byte, kMessages> body{};
  std::size_t number = 0;
  for (const auto& step : steps()) {
    if (program->rank() == 1 && number == 3) {
      for (MatchBits i = 0; i < kMessages; ++i) {
        ok =
            ok &&
            program->put({.destination = 0, .portal = kDesk, .match_bits = 0x100 + i}, Region(body.data(), i + 1)).ok();
      }
    }
    if (program->rank() == 0) {
      ok = ok && step(*program, desk);
      desk.write_down();
    }
    ok = ok && program->barrier().ok();
    if (program->rank() == 1) ok = ok && program->put({.destination = 0, .portal = kMarks, .match_bits = number}).ok();
    ++number;
    if (program->rank() == 0) ok = ok && program->wait_until([&] { return desk.marks.messages() == number; }).ok();
    ok = ok && program->barrier().ok();
  }
  ok = ok && program->finish().ok();
  return ok ? 0 : 1;
}
