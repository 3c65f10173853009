// To which piece of hardware this process is confined: what the kernel tells under /sys/devices/system.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace margay::sim {

// The processors in this process's affinity mask, by their numbers; empty: the kernel does not say.
[[nodiscard]] std::vector<int> allowed_processors();

// Which instance of a type of resource all of `processors` belong to; nothing: to several of them, or the machine or
// this file knows no such type. Types have hwloc's names, in any case of letters: Package (Socket), Die, NUMANode
// (NUMA), L3Cache, L2Cache, L1Cache, Core, PU. An instance's number is that of its first processor, so it is unique in
// a machine and for its type. `root`: what stands for /sys/devices/system.
[[nodiscard]] std::optional<int> hardware_instance(std::string_view type, const std::vector<int>& processors,
                                                   const std::string& root = "/sys/devices/system");

}  // namespace margay::sim
