#include "sim/wire/tcp/tcp_silence.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

namespace margay::sim {

std::string silence_text() {
  return "no answer from host for " + std::to_string(kSilenceMaxNs / 1'000'000'000) + " s";
}

bool read_answers(int descriptor, TcpAnswers& answers) {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return false;
  constexpr std::uint64_t kMillisecondNs = 1'000'000;
  answers.acknowledged_bytes = info.tcpi_bytes_acked;
  answers.last_ns = info.tcpi_last_ack_recv * kMillisecondNs;
  answers.in_flight = info.tcpi_unacked;
  answers.window_probes = info.tcpi_probes;
  return true;
}

bool TcpSilence::look(const TcpAnswers& answers, std::uint64_t now_ns) {
  const bool waited = waiting_ && answers.acknowledged_bytes == acknowledged_bytes_;
  waiting_ = answers.in_flight != 0 || answers.window_probes != 0;
  acknowledged_bytes_ = answers.acknowledged_bytes;
  if (!waiting_) return false;
  // Other bytes wait now, or no bytes waited before, so the time starts again.
  if (!waited) since_ns_ = now_ns;
  // Every acknowledgment is a sign of life, even if it acknowledges no new bytes.
  since_ns_ = std::max(since_ns_, now_ns - std::min(now_ns, answers.last_ns));
  // Without bytes in flight, only probes show whether the host lives.
  const bool asked = answers.in_flight != 0 || answers.window_probes >= kProbesMin;
  return asked && now_ns - since_ns_ >= kSilenceMaxNs;
}

}  // namespace margay::sim
