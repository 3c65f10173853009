// Whether the host at the other end of a connection has fallen silent. Keepalive answers that only while nothing waits
// for an acknowledgment; with data in flight the kernel sends them again for a quarter of an hour. So the wire looks at
// each connection now and then.
//
// Silence is no acknowledgment of any sort, for as long as the same bytes wait for one. A peer that is merely stopped,
// or takes nothing, is not silent: its kernel closes the window and goes on to acknowledge what asks about it.
#pragma once

#include <cstdint>
#include <string>

namespace margay::sim {

// With the pause between two looks before and behind it, less than 15 s.
inline constexpr std::uint64_t kSilenceMaxNs = 12'000'000'000;
inline constexpr std::uint64_t kSilenceLookNs = 1'000'000'000;
// "no answer from host for 12 s"
[[nodiscard]] std::string silence_text();

// What the kernel says of a connection.
struct TcpAnswers {
  std::uint64_t acknowledged_bytes = 0;  // in all
  std::uint64_t last_ns = 0;             // since the last acknowledgment, of whatever
  std::uint32_t in_flight = 0;           // segments
  std::uint32_t window_probes = 0;       // that the last acknowledgment has not answered
};
// False: `descriptor` is no TCP connection (any more); its next use will tell.
[[nodiscard]] bool read_answers(int descriptor, TcpAnswers& answers);

// One connection's. Pure: the caller says what there is to see, and when.
class TcpSilence {
 public:
  // The probes of a closed window come at growing intervals, so that one lost probe may be many seconds of silence.
  static constexpr std::uint32_t kProbesMin = 3;

  // True: the connection has been silent for kSilenceMaxNs.
  [[nodiscard]] bool look(const TcpAnswers& answers, std::uint64_t now_ns);

 private:
  bool waiting_ = false;  // at the last look, something waited for an acknowledgment
  std::uint64_t acknowledged_bytes_ = 0;
  std::uint64_t since_ns_ = 0;  // waiting_: it has waited, unanswered, since
};

}  // namespace margay::sim
