// Puts on bare portals, deposited in the rows of an independent block: cost.h.   margay run -n 2 ./puts FILE
#include "cost.h"

#include <margay/portals.hpp>

#include <array>
#include <cstdlib>
#include <memory>

using namespace margay;
using namespace margay::portals;

namespace {

constexpr PortalIndex kPortal = 4;

std::unique_ptr<Program> program;
std::array<std::uint64_t, kWindow> numbers;
std::array<IndependentBuffer, kWindow> rows;
std::uint64_t sent = 0;
std::uint64_t expected = 0;

void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "puts: %s\n", status.sentence().c_str());
  std::exit(1);
}

void send_all() {
  for (int i = 0; i < kWindow; ++i, ++sent) {
    need(program->put({.destination = 1, .portal = kPortal}, Region(reinterpret_cast<std::byte*>(&sent), sizeof sent)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  need(Program::start(program));
  if (argc != 2 || program->size() != 2) {
    std::fprintf(stderr, "use: margay run -n 2 %s FILE\n", argv[0]);
    return 2;
  }
  for (int i = 0; i < kWindow; ++i) {
    rows[i].memory = Region(reinterpret_cast<std::byte*>(&numbers[i]), sizeof numbers[i]);
  }
  static IndependentBlock block(rows, Progression::circular);
  need(program->table().attach(kPortal, block, {}));
  need(program->barrier());
  const int failed = run_windows(static_cast<int>(program->rank()), argv[1], nullptr, send_all, [] {
    for (int i = 0; i < kWindow; ++i) {
      need(program->wait_until([i] { return rows[i].state == IndependentBuffer::State::filled; }));
      if (numbers[i] != expected++) std::abort();
      block.release(i);
    }
  });
  need(program->settle());
  program->table().detach(kPortal);
  need(program->finish());
  return failed;
}
