#include "sim/wire/tcp/tcp_backend.hpp"

#include <cerrno>
#include <cstring>

#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::sim {

std::string_view name(TcpBackendChoice choice) {
  switch (choice) {
    case TcpBackendChoice::automatic:
      return "auto";
    case TcpBackendChoice::uring:
      return "uring";
    case TcpBackendChoice::epoll:
      return "epoll";
  }
  return "?";
}

portals::Status parse_backend(std::string_view text, TcpBackendChoice& choice) {
  for (const auto known : {TcpBackendChoice::automatic, TcpBackendChoice::uring, TcpBackendChoice::epoll}) {
    if (text != name(known)) continue;
    choice = known;
    return {};
  }
  return portals::Status::error("'" + std::string(text) + "' is not a TCP backend; choose uring, epoll or auto");
}

// `auto` selects epoll: between two ranks epoll was never slower than io_uring, and for short messages a microsecond
// faster (docs/tcp_wire.md).
TcpBackendTaken backend_for(TcpBackendChoice choice) {
  switch (choice) {
    case TcpBackendChoice::uring:
      return {true, "io_uring: asked for"};
    case TcpBackendChoice::epoll:
      return {false, "epoll: asked for"};
    case TcpBackendChoice::automatic:
      break;
  }
  return {false, "epoll: short messages are faster with it than with io_uring"};
}

// Several errors mean the same to a user, so each group of errors has one wording.
std::string io_failure_text(int error_number) {
  switch (error_number) {
    case ECONNRESET:
    case EPIPE:
      return "connection reset";
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return std::string("no answer from host (") + std::strerror(error_number) + ")";
    case EBADF:
    case ENOTSOCK:
    case ENOTCONN:
      return "its connection failed: " + watch_failure_text(error_number);
    default:
      return std::string("its connection failed: ") + std::strerror(error_number);
  }
}

}  // namespace margay::sim
