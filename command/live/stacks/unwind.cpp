#include "command/live/stacks/unwind.hpp"

#include <elfutils/libdwfl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "command/live/stacks/held_process.hpp"
#include "portals/base/assert.hpp"
#include "sim/trace/definition.hpp"

namespace margay::command {

struct Unwinder::Address {
  Dwarf_Addr at = 0;
  // True: the thread was interrupted at this address. False: it is a return address.
  bool interrupted = false;
};

namespace {

using portals::Status;

constexpr std::size_t kMostFrames = 256;

// Null, so libdw searches debug information in the file itself and in its default folders.
char* no_debug_folder = nullptr;
constexpr Dwfl_Callbacks kOfProcess{.find_elf = dwfl_linux_proc_find_elf,
                                    .find_debuginfo = dwfl_standard_find_debuginfo,
                                    .section_address = nullptr,
                                    .debuginfo_path = &no_debug_folder};

// Called by libdw for each frame; stops at the bound, since a corrupt stack may have no end.
int take_frame(Dwfl_Frame* frame, void* into) {
  auto& addresses = *static_cast<std::vector<Unwinder::Address>*>(into);
  Unwinder::Address address;
  if (!dwfl_frame_pc(frame, &address.at, &address.interrupted)) return DWARF_CB_ABORT;
  addresses.push_back(address);
  return addresses.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// Each name may be missing: a stripped module has only its file name.
Frame frame_at(Dwfl* dwfl, const Unwinder::Address& address) {
  Frame frame;
  // A return address is behind the call; the byte before it belongs to the call.
  const Dwarf_Addr at = address.at - (address.interrupted ? 0 : 1);
  Dwfl_Module* const module = dwfl_addrmodule(dwfl, at);
  if (module == nullptr) return frame;
  const char* const path = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  const std::string file = path == nullptr ? "" : path;
  frame.module = sim::printable(file.substr(file.find_last_of('/') + 1));
  const char* const symbol = dwfl_module_addrname(module, at);
  frame.function = function_name(symbol == nullptr ? "" : symbol);
  Dwfl_Line* const line = dwfl_module_getsrc(module, at);
  int number = 0;
  const char* const source =
      line == nullptr ? nullptr : dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
  if (source == nullptr || number == 0) return frame;
  const std::string name = source;
  frame.location = sim::printable(fmt::format("{}:{}", name.substr(name.find_last_of('/') + 1), number));
  return frame;
}

}  // namespace

struct Unwinder::Impl {
  int pid = 0;
  Dwfl* dwfl = nullptr;
  // Innermost first.
  std::vector<std::vector<Unwinder::Address>> walked;
};

Unwinder::Unwinder(int pid) : impl_(std::make_unique<Impl>()) {
  impl_->pid = pid;
}

Unwinder::~Unwinder() {
  if (impl_->dwfl != nullptr) dwfl_end(impl_->dwfl);
}

Status Unwinder::open() {
  impl_->dwfl = dwfl_begin(&kOfProcess);
  int error = impl_->dwfl == nullptr ? -1 : dwfl_linux_proc_report(impl_->dwfl, impl_->pid);
  if (error == 0) error = dwfl_report_end(impl_->dwfl, nullptr, nullptr);
  // The caller stops the threads, so libdw must not attach to them.
  if (error == 0) error = dwfl_linux_proc_attach(impl_->dwfl, impl_->pid, true);
  if (error == 0) return {};
  const std::string own = error > 0 ? "" : dwfl_errmsg(-1);
  std::string why = why_refused(impl_->pid, error > 0 ? error : EINVAL);
  // An error of libdw's own concerns the process's files, so it explains more than a guess about rights.
  if (!own.empty() && why != kHasEnded) why = own;
  return Status::error(why == kHasEnded ? why : "its memory cannot be read: " + why);
}

void Unwinder::walk(int tid) {
  MARGAY_ASSERT(impl_->dwfl != nullptr);
  std::vector<Unwinder::Address> addresses;
  // An error ends the walk; the frames before the error count.
  static_cast<void>(dwfl_getthread_frames(impl_->dwfl, tid, take_frame, &addresses));
  impl_->walked.push_back(std::move(addresses));
}

std::vector<Stack> Unwinder::stacks() {
  std::vector<Stack> stacks;
  for (const std::vector<Unwinder::Address>& addresses : impl_->walked) {
    Stack& stack = stacks.emplace_back();
    for (const Unwinder::Address& address : addresses) stack.push_back(frame_at(impl_->dwfl, address));
    std::ranges::reverse(stack);
  }
  return stacks;
}

}  // namespace margay::command
