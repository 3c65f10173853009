#include "command/run/options/hosts.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace margay::command {

using portals::Status;

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? std::string(name) : std::string("localhost");
}

Status check_host(const std::string& host) {
  std::string name = host;
  if (name != "::1" && name.find(':') != std::string::npos) name.resize(name.find(':'));
  const std::string own = host_name();
  const std::string short_own = own.substr(0, own.find('.'));
  if (name == "localhost" || name == "127.0.0.1" || name == "::1" || name == own || name == short_own) return {};
  return Status::error(
      "host \"" + host.substr(0, 200) + "\" is not this one (" + own +
      "): margay run starts ranks on this host only, on several emulated nodes with --nodes; for several "
      "hosts start the program with MPICH's mpiexec or srun --mpi=pmi2");
}

Status read_hosts(const std::string& path, std::vector<std::string>& hosts) {
  std::ifstream file(path);
  if (!file) return Status::error("cannot read the host file " + path + ": " + std::strerror(errno));
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::size_t end = line.find_first_of(" \t\r#", begin);
    hosts.push_back(line.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return hosts.empty() ? Status::error("the host file " + path + " names no host") : Status();
}

}  // namespace margay::command
