// The context: the address space of a rank as part of Nexus (paper 003, section 3), its start and end, its handlers, and the
// calls in which it serves others.
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

// Choices of the program, before the environment, the resource file and the command line, which prevail (docs/nexus.md).
struct Options {
  // The methods in order of preference. Empty: local, shm, tcp.
  std::vector<std::string> methods;
  // Paths of modules to load (margay/nexus_module.h).
  std::vector<std::string> load;
  // Whether handlers may run in threads (Run::in_thread), and at most so many of them. 0: no threads.
  std::uint32_t threads = 0;
};

// Starts Nexus in this rank. Collective over the ranks of the job. The first version takes the words of Nexus
// (--nexus-modules LIST, --nexus-skip-poll METHOD=N and so on) off the command line. Throws `error` for invalid
// settings, and if Nexus has been started already.
void init(int& argc, char**& argv, const Options& options = {});
void init(const Options& options = {});
// Ends Nexus in this rank. Collective. Runs handlers until no request is under way in the whole job. Endpoints and
// startpoints may be destroyed before and after. Throws `error` if a context was lost or an error is pending; Nexus has
// then ended, too.
void finish();

// This context's number and the number of contexts: ranks of the job.
[[nodiscard]] int context();
[[nodiscard]] int contexts();

// When a handler runs. `in_poll`: inside poll(), wait_until(), send() and finish() of this context; it must not wait.
// `in_thread`: in a thread of Nexus at any moment, several at a time; it may call wait_until(). Requires Options::threads.
enum class Run : std::uint8_t { in_poll, in_thread };

// A handler of requests: gets the endpoint to which the request was sent, and its buffer. Its exceptions are thrown by this
// context's next poll(), wait_until() or finish(). The buffer is valid until it returns.
using Handler = std::function<void(Endpoint& endpoint, Buffer& buffer)>;

// Registers a handler under a name, which a request contains as a number derived from it. Register all before the first
// request for it may arrive, for example before init(). Throws `error` for a name that is empty, has more than 63 bytes or
// is registered, or whose number another name has. The thread that calls init() has the handlers that it registered.
void register_handler(const std::string& name, Handler handler, Run run = Run::in_poll);

// Serves once: polls each method that is due, and runs the handlers of all requests that have arrived.
void poll();

// What may change the condition of wait_until(). `requests`: handlers of this context only, so that a wait in which no
// request can arrive is a deadlock, which margay detects. `anything`: also a clock, a thread or a file.
enum class Depends : std::uint8_t { requests, anything };

// Serves until `done()`, which must not call Nexus. Tests it after each handler. Throws `error` if a context is lost, if an
// error is pending, and in a handler that runs in poll().
void wait_until(const std::function<bool()>& done, Depends depends = Depends::requests);

// Sets whether a method is polled, and at each how many-th poll (paper 003, section 3.3, skip_poll); 1: each. Of tcp and shm
// it is the interval of margay's kernel, which polls for MPI, too (docs/polling.md); of a module that of this context's
// polling function. Throws `error` for 0, for an unknown method and for local. finish() switches all polling on.
void set_skip_poll(const std::string& method, std::uint32_t every);
void set_polling(const std::string& method, bool on);

// Sets a parameter of a method in this context, such as ("udp", "linger_ms", "20").
void set_parameter(const std::string& method, const std::string& name, const std::string& value);
// Loads a module and adds its method at the end of this context's order. Contexts learn of it by startpoints that are made
// later.
void load_module(const std::string& path);

// Allows this context to pass on requests that reach it by `method` for other contexts; off by default. Collective: each
// context calls it with the same arguments. Startpoints that are made later, and light ones that are received later,
// have the forwarder in their tables. Requests from other forwarders are refused.
void forward(const std::string& method, int forwarder, const std::vector<int>& for_contexts);

}  // namespace margay::nexus
