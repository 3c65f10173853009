#include "virtual_machine/program/hooks.hpp"

namespace margay::virtual_machine {
namespace {

constinit Hooks* registered = nullptr;

}  // namespace

void set_hooks(Hooks* hooks) {
  registered = hooks;
}

Hooks& hooks() {
  return *registered;
}

bool has_hooks() {
  return registered != nullptr;
}

}  // namespace margay::virtual_machine
