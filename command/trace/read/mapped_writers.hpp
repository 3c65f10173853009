// A search for processes that may still write to a file, for file systems whose leases do not show them. Internal to
// this folder.
#pragma once

namespace margay::command {

// Whether a read lease on the open file proves that no process has it mapped for writing. Overlayfs grants the lease
// regardless, because a mapping holds the file of the layer beneath.
[[nodiscard]] bool leases_prove(int descriptor);

// Whether a process has the file mapped, shared and writable, by /proc/*/maps. Compares names, because overlayfs shows
// other device numbers there. Does not see processes whose maps this user may not read. Without /proc: true, to be
// safe. Cost: reads the maps of every process.
[[nodiscard]] bool is_mapped_for_writing(int descriptor);

}  // namespace margay::command
