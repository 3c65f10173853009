// A detector of a silent host at the other end of a connection. Keepalive works only while no data wait for an
// acknowledgment. With data in flight, the operating system retransmits for a quarter of an hour. So the wire checks
// each connection once a second.
//
// Silence is the time during which the same bytes wait for an acknowledgment and no acknowledgment of any kind arrives.
// A peer that is merely stopped, or reads nothing, is not silent, because its operating system closes the window and
// continues to acknowledge probes.
#pragma once

#include <cstdint>
#include <string>

namespace margay::sim {

// The time of silence after which a host is lost, and the time between two checks. A silence may begin directly after a
// check, so the loss is reported in less than 15 s.
inline constexpr std::uint64_t kSilenceMaxNs = 12'000'000'000;
inline constexpr std::uint64_t kSilenceCheckNs = 1'000'000'000;
// "no answer from host for 12 s"
[[nodiscard]] std::string silence_text();

// The operating system's data about a connection.
struct TcpAnswers {
  // Bytes that the peer has acknowledged since the connection began.
  std::uint64_t acknowledged_bytes = 0;
  // Time since the last acknowledgment of any kind.
  std::uint64_t last_ns = 0;
  // Segments that the peer has not acknowledged.
  std::uint32_t in_flight = 0;
  // Probes of a closed window that have not been acknowledged.
  std::uint32_t window_probes = 0;
};
// Reads the data. False: `descriptor` is not a TCP connection (any more); the next use of the connection reports that.
[[nodiscard]] bool read_answers(int descriptor, TcpAnswers& answers);

// The silence of one connection. Pure: the caller passes the observation and the time.
class TcpSilence {
 public:
  // Fewer unanswered probes of a closed window than this do not count as silence. Probes are sent at growing intervals,
  // so one lost probe may already mean many seconds without an acknowledgment.
  static constexpr std::uint32_t kProbesMin = 3;

  // Records an observation. True: the connection has been silent for kSilenceMaxNs.
  [[nodiscard]] bool look(const TcpAnswers& answers, std::uint64_t now_ns);

 private:
  // At the last check, something waited for an acknowledgment.
  bool waiting_ = false;
  std::uint64_t acknowledged_bytes_ = 0;
  // The beginning of that wait, or the last acknowledgment since then.
  std::uint64_t since_ns_ = 0;
};

}  // namespace margay::sim
