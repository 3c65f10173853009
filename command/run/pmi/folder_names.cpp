#include "command/run/pmi/folder_names.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "sim/base/random.hpp"
#include "sim/boot/user_folder.hpp"

namespace margay::command {

using portals::Status;

namespace {

// Attempts to publish: after each failed one another job has published the service, and has withdrawn it again.
constexpr int kPublishAttempts = 16;
// Attempts to get the lock, for 2 s. Its holder makes a few system calls; only one that is stopped meanwhile needs
// longer.
constexpr int kLockAttempts = 1000;
constexpr timespec kLockPause = {0, 2'000'000};

sim::FileAt file_in(const sim::PrivateFolder& names, const std::string& name) {
  return {names.descriptor.number(), name, names.path + "/" + name};
}

Status is_published_by(const NameFile& other) {
  return Status::error("another job has published it: job " + other.job + " of the launcher with process number " +
                       std::to_string(other.launcher.pid));
}

}  // namespace

FolderNames::FolderNames(std::uint64_t job, const sim::ProcessIdentity& launcher)
    : job_(sim::to_hex(std::as_bytes(std::span(&job, 1)))), launcher_(launcher) {}

FolderNames::~FolderNames() {
  withdraw();
}

Status FolderNames::open(sim::PrivateFolder& names) const {
  sim::PrivateFolder user;
  if (Status status = sim::open_user_folder(user); !status.ok()) return status;
  return sim::open_private_folder(&user, "names", names);
}

FolderNames::Holder FolderNames::look(const sim::FileAt& file, NameFile& content) const {
  const sim::PrivateFile read = sim::read_private_file(file, kNameFileBytesMax);
  if (read.state == sim::FileState::absent) return Holder::none;
  if (read.state == sim::FileState::unknown) return Holder::unknown;
  if (read.state == sim::FileState::unfit || !parse_name_file(read.content, content)) return Holder::removable;
  const bool ours = content.launcher.pid == launcher_.pid && content.launcher.start_ticks == launcher_.start_ticks;
  if (ours) return Holder::ours;
  return sim::has_ended(content.launcher) ? Holder::removable : Holder::foreign;
}

Status FolderNames::publish(std::string_view service, std::string_view port) {
  const NameFile mine{launcher_, job_, std::string(service), std::string(port)};
  const std::string text = name_file_text(mine);
  sim::PrivateFolder names;
  // Without its identity the launcher would be taken for one that has ended.
  if (withdrawn_ || launcher_.pid == 0 || text.empty() || !open(names).ok()) return {};
  const sim::FileAt file = file_in(names, name_file_of(service));
  for (int attempt = 0; attempt < kPublishAttempts; ++attempt) {
    bool made = false;
    if (!sim::make_private_file(file, text, made).ok()) return {};
    if (made) {
      own_[file.name] = service;
      return {};
    }
    NameFile other;
    const Holder holder = look(file, other);
    // The same hash of another service occurs in damaged folders only.
    if (holder == Holder::foreign) return other.service == service ? is_published_by(other) : Status();
    if (holder == Holder::unknown) return {};
    // Left by a removal that failed.
    if (holder == Holder::ours) remove_own(names, file.name, mine.service);
    const Removal removal = holder == Holder::removable ? remove_stale(file) : Removal::done;
    if (removal == Removal::impossible) return {};
    if (removal == Removal::lock_is_held) {
      return Status::error("another process has locked " + names.path + " for seconds; end or continue it");
    }
  }
  return Status::error("other jobs publish it again and again");
}

FolderNames::Removal FolderNames::remove_stale(const sim::FileAt& file) const {
  int locked = -1;
  for (int attempt = 0; attempt < kLockAttempts && locked != 0; ++attempt) {
    if (attempt > 0) static_cast<void>(::nanosleep(&kLockPause, nullptr));
    locked = ::flock(file.folder, LOCK_EX | LOCK_NB);
    if (locked != 0 && errno != EWOULDBLOCK && errno != EINTR) return Removal::impossible;
  }
  if (locked != 0) return Removal::lock_is_held;
  NameFile content;
  // Another process may have replaced the file before this one got the lock.
  const bool stale = look(file, content) == Holder::removable;
  // Fails for a folder.
  const bool removed = !stale || ::unlinkat(file.folder, file.name.c_str(), 0) == 0;
  static_cast<void>(::flock(file.folder, LOCK_UN));
  return removed ? Removal::done : Removal::impossible;
}

Status FolderNames::lookup(std::string_view service, std::string& port) {
  port.clear();
  sim::PrivateFolder names;
  if (Status status = open(names); !status.ok()) return status;
  NameFile content;
  if (look(file_in(names, name_file_of(service)), content) == Holder::foreign && content.service == service) {
    port = content.port;
  }
  return {};
}

void FolderNames::unpublish(std::string_view service) {
  const auto own = own_.find(name_file_of(service));
  if (own == own_.end() || own->second != service) return;
  if (sim::PrivateFolder names; open(names).ok()) remove_own(names, own->first, own->second);
  own_.erase(own);
}

void FolderNames::withdraw() {
  withdrawn_ = true;
  if (own_.empty()) return;
  if (sim::PrivateFolder names; open(names).ok()) {
    for (const auto& [file, service] : own_) remove_own(names, file, service);
  }
  own_.clear();
}

// Someone may have removed the file, and another job may have published the service since.
void FolderNames::remove_own(const sim::PrivateFolder& names, const std::string& file,
                             const std::string& service) const {
  NameFile content;
  const sim::FileAt at = file_in(names, file);
  if (look(at, content) != Holder::ours || content.service != service || content.job != job_) return;
  static_cast<void>(::unlinkat(at.folder, at.name.c_str(), 0));
}

}  // namespace margay::command
