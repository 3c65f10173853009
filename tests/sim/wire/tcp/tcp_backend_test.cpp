#include "sim/wire/tcp/tcp_backend.hpp"

#include <cerrno>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using margay::portals::Status;
using margay::sim::TcpBackendChoice;

TEST_CASE("each TCP backend is parsed from its own name") {
  for (const auto choice : {TcpBackendChoice::automatic, TcpBackendChoice::uring, TcpBackendChoice::epoll}) {
    CAPTURE(margay::sim::name(choice));
    // A different value, so that the parser has to set it.
    TcpBackendChoice parsed = choice == TcpBackendChoice::epoll ? TcpBackendChoice::uring : TcpBackendChoice::epoll;
    CHECK(margay::sim::parse_backend(margay::sim::name(choice), parsed).ok());
    CHECK(parsed == choice);
  }
}

TEST_CASE("an unknown TCP backend is an error that names it and the known ones") {
  for (const std::string_view text : {"", "Epoll", "epoll ", "io_uring", "automatic", "?"}) {
    CAPTURE(text);
    TcpBackendChoice parsed = TcpBackendChoice::uring;
    const Status status = margay::sim::parse_backend(text, parsed);
    REQUIRE_FALSE(status.ok());
    CHECK(parsed == TcpBackendChoice::uring);
    for (const std::string& named : {"'" + std::string(text) + "'", std::string("uring, epoll or auto")}) {
      CHECK(status.sentence().find(named) != std::string::npos);
    }
  }
}

TEST_CASE("the choice of a TCP backend selects one, and gives a reason that begins with its name") {
  struct Row {
    TcpBackendChoice choice;
    bool uring;
    std::string_view begins;
  };
  constexpr Row kRows[] = {{TcpBackendChoice::automatic, false, "epoll: "},
                           {TcpBackendChoice::epoll, false, "epoll: "},
                           {TcpBackendChoice::uring, true, "io_uring: "}};
  for (const Row& row : kRows) {
    const margay::sim::TcpBackendTaken taken = margay::sim::backend_for(row.choice);
    CAPTURE(taken.reason);
    CHECK(taken.uring == row.uring);
    CHECK(taken.reason.starts_with(row.begins));
  }
}

TEST_CASE("the failure of a connection is attributed to the peer, the network or this process") {
  struct Row {
    int error_number;
    std::string_view begins;
  };
  constexpr Row kRows[] = {{ECONNRESET, "connection reset"},       {EPIPE, "connection reset"},
                           {ETIMEDOUT, "no answer from host ("},   {EHOSTUNREACH, "no answer from host ("},
                           {ENETUNREACH, "no answer from host ("}, {EBADF, "its connection failed: "},
                           {ENOTSOCK, "its connection failed: "},  {ENOBUFS, "its connection failed: "}};
  for (const Row& row : kRows) {
    CAPTURE(row.error_number);
    CHECK(margay::sim::io_failure_text(row.error_number).starts_with(row.begins));
  }
}
