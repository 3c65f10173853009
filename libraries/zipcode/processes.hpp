// The start and end of processes: the seam behind zip_spawn() and zip_kill().
#pragma once

#include <string>
#include <vector>

#include "libraries/zipcode/addressees.hpp"
#include "margay/host.hpp"

namespace margay::zipcode::core {

// What a system does for zip_spawn() and zip_kill(). Functions require that the thread is inside.
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  virtual ~Processes() = default;
  // Starts `program` on each process of the group, the caller excepted. Empty: done; otherwise the reason.
  [[nodiscard]] virtual std::string spawn(host::Rank& rank, const std::string& program, const Group& group) = 0;
  // Ends each process of the group, the caller excepted.
  [[nodiscard]] virtual std::string kill(host::Rank& rank, const Group& group) = 0;
};

// The processes of this system. Where the launcher starts all programs, both are null operations (paper 000, section
// 5.1: "acceptable portability is still maintained").
[[nodiscard]] Processes& processes();

}  // namespace margay::zipcode::core
