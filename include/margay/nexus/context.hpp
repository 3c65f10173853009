// The context: the address space of a rank in Nexus (paper 003, section 3). Start and end, handlers, and the calls that
// serve requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "margay/nexus/buffer.hpp"

namespace margay::nexus {

class Endpoint;

// The program's choices. The resource file, the environment and the command line override them (docs/nexus_modules.md).
struct Options {
  // The methods in order of preference. Empty: local, shm, tcp.
  std::vector<std::string> methods;
  // Paths of modules to load (margay/nexus_module.h).
  std::vector<std::string> load;
  // The maximum number of handler threads (Run::in_thread). 0: handlers run in polls only.
  std::uint32_t threads = 0;
};

// Starts Nexus in this rank. Collective over the ranks of the job. The first version removes the options of Nexus
// (--nexus-modules LIST, --nexus-skip-poll MODULE=N and so on) from the command line. Throws `error` for invalid
// settings, and if Nexus has already been started.
void init(int& argc, char**& argv, const Options& options = {});
void init(const Options& options = {});
// Ends Nexus in this rank. Collective. Runs handlers until no request is under way in the job. Endpoints and
// startpoints may be destroyed before and after. Throws `error` if a context was lost or an error is pending; Nexus has
// then ended, too.
void finish();

// The number of this context and the number of contexts: its rank and the size of the job.
[[nodiscard]] int context();
[[nodiscard]] int contexts();

// When a handler runs. `in_poll`: inside poll(), wait_until(), send() and finish() of this context; it must not wait.
// `in_thread`: concurrently, in a thread of Nexus; it may call wait_until(). Requires Options::threads.
enum class Run : std::uint8_t { in_poll, in_thread };

// A handler of requests, called with the request's endpoint and buffer. The buffer is valid until the handler returns.
// The context's next poll(), wait_until() or finish() throws its exceptions.
using Handler = std::function<void(Endpoint& endpoint, Buffer& buffer)>;

// Registers a handler under a name. Requests carry a hash of the name. Requires: no request for the handler has
// arrived; for example, register before init(). Throws `error` for a name that is empty, longer than 63 bytes, already
// registered, or whose hash equals that of another name. Handlers belong to the calling thread, which must also call
// init().
void register_handler(const std::string& name, Handler handler, Run run = Run::in_poll);

// Serves once: polls the methods that are due, and runs the handlers of all arrived requests.
void poll();

// The events that may change the condition of wait_until(). `requests`: only handlers of this context, so a wait in
// which no request can arrive is a deadlock, which margay detects. `anything`: also a clock, a thread or a file.
enum class Depends : std::uint8_t { requests, anything };

// Serves until `done()` returns true; tests it after each handler. Requires: `done` does not call Nexus. Throws `error`
// if a context is lost, if an error is pending, and in a handler that runs in poll().
void wait_until(const std::function<bool()>& done, Depends depends = Depends::requests);

// Set the poll interval of a method (paper 003, section 3.3, skip_poll; 1: every poll), and switch its polling on or
// off. For tcp and shm they set the polling of margay's kernel, which also polls for MPI (docs/polling.md); for a
// module, that of this context. Throw `error` for the interval 0, an unknown method and local. finish() switches all
// polling on.
void set_skip_poll(const std::string& method, std::uint32_t every);
void set_polling(const std::string& method, bool on);

// Sets a parameter of a method in this context, such as ("udp", "linger_ms", "20").
void set_parameter(const std::string& method, const std::string& name, const std::string& value);
// Loads a module and appends its method to this context's order. Startpoints that are made later have it in their
// tables.
void load_module(const std::string& path);

// Makes `forwarder` receive the requests to `for_contexts` by `method` and pass them on; off by default. Collective:
// all contexts pass the same arguments. Startpoints that are made later, and light ones that are received later, have
// the forwarder in their tables. Contexts refuse requests from other forwarders.
void forward(const std::string& method, int forwarder, const std::vector<int>& for_contexts);

}  // namespace margay::nexus
