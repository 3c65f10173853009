// The machine files that are part of margay (machines/*.toml), and machines by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"
#include "virtual_machine/model/machine.hpp"

namespace margay::virtual_machine {

// A machine file in the program, which lasts as long as the process.
struct Preset {
  std::string_view name;
  std::string_view toml;
};

// All presets, by name in alphabetical order.
[[nodiscard]] std::span<const Preset> presets();

// Whether a name is that of a machine file: it contains a "/" or ends with ".toml".
[[nodiscard]] bool is_machine_file(std::string_view name);
// The text of a preset or of a machine file. On failure `out` is unchanged; for an unknown preset the message lists the
// presets.
[[nodiscard]] portals::Status read_machine_text(const std::string& name_or_path, std::string& out);
// The machine of this name. On failure `out` is unchanged.
[[nodiscard]] portals::Status find_machine(const std::string& name_or_path, Machine& out);

}  // namespace margay::virtual_machine
