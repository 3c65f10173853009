// Who may still write to a file, where the kernel's leases do not tell. Internal to sim/trace.
#pragma once

namespace margay::command {

// Whether a lease on the file that is open as `descriptor` proves that nobody has it mapped for writing: overlayfs
// gives one all the same, as who maps holds the file beneath.
[[nodiscard]] bool leases_prove(int descriptor);

// Whether a process has that file mapped, shared and for writing, as /proc/*/maps tells; by its name, since overlayfs
// has other numbers there. Processes whose maps this user may not read are not seen. Without /proc: yes, it may be.
[[nodiscard]] bool is_mapped_for_writing(int descriptor);

}  // namespace margay::command
