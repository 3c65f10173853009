// A process on margay::Program in which a library joins, and the reverse: the second one is refused with a message.
#include <margay/host.hpp>
#include <margay/portals.hpp>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>

using namespace margay;

namespace {

constexpr std::array<host::NamedPortal, 1> kPortals{{{53, "a free portal"}}};

// Whether it failed; prints why.
bool refused(const portals::Status& status) {
  std::printf("%s\n", status.ok() ? "joined" : status.sentence().c_str());
  return !status.ok();
}

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<Program> program;
  host::Rank* rank = nullptr;
  if (argc > 1 && std::string_view(argv[1]) == "library") {
    if (!host::join({"first", kPortals, {}, {}}, rank).ok() || !refused(Program::start(program))) return 1;
    rank->end();
    return 0;
  }
  if (!Program::start(program).ok() || !refused(host::join({"second", kPortals, {}, {}}, rank))) return 1;
  return program->finish().ok() ? 0 : 1;
}
