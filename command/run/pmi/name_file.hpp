// A file by which a job publishes one service for other jobs: its name and its content. Pure.
//
//   margay-name 1
//   launcher: 4711 88123456
//   job: 3f0c7a511b2c4d5e
//   service: ocean
//   port: margay-port:1:...
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/base/process_identity.hpp"

namespace margay::command {

// The longest file. A service has at most 1,024 bytes, and a port of MPI less.
inline constexpr std::size_t kNameFileBytesMax = 4096;

// The content.
struct NameFile {
  // The process number and the start of the launcher whose job has published the service.
  sim::ProcessIdentity launcher;
  // The job's identity.
  std::string job;
  std::string service;
  std::string port;
};

// The name of a service's file, safe for any service: letters, digits, '-' and '_' as they are, every other byte as '%'
// and two digits. An empty or a long service has a name of "hash." and a hash; no other name has a period.
[[nodiscard]] std::string name_file_of(std::string_view service);

// The content as text; empty if it does not fit in a file, or has a control character.
[[nodiscard]] std::string name_file_text(const NameFile& content);
// Parses such a text. False for every text that name_file_text() does not write.
[[nodiscard]] bool parse_name_file(std::string_view text, NameFile& out);

}  // namespace margay::command
