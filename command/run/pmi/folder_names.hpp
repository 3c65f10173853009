// The names of all jobs of a user on this machine: a file for each service in "names" of the user's runtime folder
// (sim/boot/user_folder, docs/dynamic.md).
//
// Invariants
//  1. A file appears with its whole content, and only where no file is (link). So of several jobs that publish a free
//     service one succeeds.
//  2. The file of a launcher that runs is removed by this launcher alone.
//  3. Any other file is removed by the process that holds the lock on the folder, and has found the file stale or
//     damaged since it took the lock. Because of 2 no other process can have put another file in its place meanwhile.
//
// A launcher that is killed leaves its files. They are ignored, because they contain the launcher's process number and
// start.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "command/run/pmi/name_file.hpp"
#include "command/run/pmi/name_store.hpp"
#include "sim/base/private_file.hpp"
#include "sim/base/process_identity.hpp"

namespace margay::command {

// The part of one launcher. Opens the folder in each call, none before the first one. Serves one thread.
class FolderNames final : public NameStore {
 public:
  // `launcher`: this process; tests pass others.
  explicit FolderNames(std::uint64_t job, const sim::ProcessIdentity& launcher = sim::own_process());
  // Withdraws all names.
  ~FolderNames() override;

  [[nodiscard]] portals::Status publish(std::string_view service, std::string_view port) override;
  [[nodiscard]] portals::Status lookup(std::string_view service, std::string& port) override;
  void unpublish(std::string_view service) override;
  // Withdraws all names of this job. Later publications have no effect.
  void withdraw();

 private:
  // `ours`: published by this launcher. `foreign`: by another one that runs. `removable`: by one that has ended, or
  // not a file of a name. `unknown`: it cannot be read.
  enum class Holder : std::uint8_t { none, ours, foreign, removable, unknown };
  enum class Removal : std::uint8_t { done, impossible, lock_is_held };

  [[nodiscard]] portals::Status open(sim::PrivateFolder& names) const;
  // The holder of a file; `content` is set for `ours` and `foreign`.
  [[nodiscard]] Holder look(const sim::FileAt& file, NameFile& content) const;
  // Removes the file if it is stale or damaged. `done`: it is gone, or another file is in its place.
  [[nodiscard]] Removal remove_stale(const sim::FileAt& file) const;
  void remove_own(const sim::PrivateFolder& names, const std::string& file, const std::string& service) const;

  std::string job_;
  sim::ProcessIdentity launcher_;
  bool withdrawn_ = false;
  // Own files: the service by the file's name.
  std::map<std::string, std::string> own_;
};

}  // namespace margay::command
