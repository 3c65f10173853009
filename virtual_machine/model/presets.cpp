#include "virtual_machine/model/presets.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/boot/parse.hpp"

namespace margay::virtual_machine {
namespace {

using portals::Status;

// A machine file has some kilobytes; this is a program or a device.
constexpr std::size_t kFileBytesMost = 1U << 20;

Status read_file(const std::string& path, std::string& out) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kFileBytesMost + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // The end of the file sets both fail and eof.
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    return Status::error(fmt::format("cannot read machine file {}: {}; name a file, or a preset without \"/\"",
                                     sim::one_line(path), std::strerror(errno)));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kFileBytesMost) {
    return Status::error(
        fmt::format("machine file {} is larger than 1 MiB; name a file such as `margay machines paragon --toml` prints",
                    sim::one_line(path)));
  }
  out = std::move(text);
  return {};
}

Status unknown_preset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  const std::string_view nearest = sim::nearest_spelling(name, names);
  return Status::error(fmt::format(
      "unknown machine \"{}\"{}; the presets are {}; the name of a machine file has a \"/\" "
      "or ends with .toml",
      sim::one_line(name), nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), fmt::join(names, ", ")));
}

}  // namespace

bool is_machine_file(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".toml");
}

Status read_machine_text(const std::string& name_or_path, std::string& out) {
  if (is_machine_file(name_or_path)) return read_file(name_or_path, out);
  for (const Preset& preset : presets()) {
    if (preset.name != name_or_path) continue;
    out = preset.toml;
    return {};
  }
  return unknown_preset(name_or_path);
}

Status find_machine(const std::string& name_or_path, Machine& out) {
  std::string text;
  if (Status status = read_machine_text(name_or_path, text); !status.ok()) return status;
  // Errors name the file, of a preset that in the source tree.
  return parse_machine(text, is_machine_file(name_or_path) ? name_or_path : name_or_path + ".toml", out);
}

}  // namespace margay::virtual_machine
