// The names that jobs publish for other jobs, as the PMI server uses them.
#pragma once

#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::command {

// A service and a port are words of a PMI line. A name belongs to the job that published it, and each job knows its own
// names without the store.
class NameStore {
 public:
  NameStore() = default;
  NameStore(const NameStore&) = delete;
  NameStore& operator=(const NameStore&) = delete;
  virtual ~NameStore() = default;

  // Publishes a service for other jobs. Error: it is refused, because another job that runs has published it. Success
  // if the store cannot be used, because the service is then known in the job only.
  [[nodiscard]] virtual portals::Status publish(std::string_view service, std::string_view port) = 0;
  // Finds the port of a service that another job has published; `port` is empty if none has. Error: the reason why the
  // store cannot be used.
  [[nodiscard]] virtual portals::Status lookup(std::string_view service, std::string& port) = 0;
  // Withdraws a service that this job has published.
  virtual void unpublish(std::string_view service) = 0;
};

}  // namespace margay::command
