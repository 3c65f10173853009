#include "command/run/pmi/pmi_channels.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace margay::command {

using portals::Status;

namespace {

// The bound of drain(): 1 MiB in reads of 4 KiB, more than a socket's buffer usually holds.
constexpr int kDrainReads = 256;

}  // namespace

PmiChannels::PmiChannels(Poller& poller, PmiServer& server, std::uint32_t ranks, Report report, Order order)
    : poller_(poller), server_(server), report_(std::move(report)), order_(std::move(order)), channels_(ranks) {}

PmiChannels::~PmiChannels() {
  for (Channel& channel : channels_) close_channel(channel);
}

Status PmiChannels::open(std::uint32_t rank, int& rank_end) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Status::error("cannot make a PMI connection for rank " + std::to_string(rank) + ": " + std::strerror(errno) +
                         (errno == EMFILE ? " (the limit on open files, ulimit -n)" : ""));
  }
  close_channel(channels_[rank]);
  channels_[rank].descriptor = ends[0];
  rank_end = ends[1];
  // Both ends are close-on-exec; spawn() clears the flag of the rank's end in the child only.
  poller_.watch(ends[0], {EventKind::pmi, rank});
  return {};
}

bool PmiChannels::on_readable(std::uint32_t rank) {
  Channel& channel = channels_[rank];
  if (channel.descriptor < 0) return false;
  char bytes[4096];
  const ssize_t count = ::recv(channel.descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
  // After EINTR, true makes drain() try again.
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return errno == EINTR;
  if (count <= 0) {
    close_channel(channel);
    return false;
  }
  channel.unread.append(bytes, static_cast<std::size_t>(count));
  take_lines(rank);
  return true;
}

void PmiChannels::drain(std::uint32_t rank) {
  // First the lines behind an order that is being carried out: the end of the stream would discard them.
  take_lines(rank);
  // The number of reads is bounded, because a child of the rank may write without end.
  for (int reads = 0; reads < kDrainReads && on_readable(rank); ++reads) {
  }
}

// Cuts complete lines out of the bytes. The channel is closed before a report, which may end the job. A line is removed
// before it is carried out, because an order may collect the end of this rank, whose drain() continues with the rest.
void PmiChannels::take_lines(std::uint32_t rank) {
  Channel& channel = channels_[rank];
  for (std::size_t end = 0; (end = channel.unread.find('\n')) != std::string::npos;) {
    const std::string line = channel.unread.substr(0, end);
    channel.unread.erase(0, end + 1);
    const PmiOutcome outcome = server_.take_line(rank, line);
    for (const PmiReply& reply : outcome.replies) answer(reply);
    if ((outcome.spawn || !outcome.kill.empty()) && order_) answer({rank, order_(rank, outcome) + "\n"});
    if (!outcome.aborts && outcome.error.empty()) continue;
    // The job ends because of this line, so later ones are not read.
    close_channel(channel);
    return report_(rank, outcome);
  }
  // A line without an end must not fill the launcher's memory.
  if (channel.unread.size() <= sim::kMaxPmiLineBytes) return;
  PmiOutcome outcome;
  outcome.error = "rank " + std::to_string(rank) + " sent a PMI line without an end";
  close_channel(channel);
  report_(rank, outcome);
}

// Sends a reply without blocking. A rank reads one reply for each request, so its socket has room; a rank that does not
// read loses replies and harms only itself.
void PmiChannels::answer(const PmiReply& reply) {
  const Channel& channel = channels_[reply.rank];
  if (channel.descriptor < 0) return;
  static_cast<void>(::send(channel.descriptor, reply.line.data(), reply.line.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

void PmiChannels::close_channel(Channel& channel) {
  if (channel.descriptor < 0) return;
  poller_.remove(channel.descriptor);
  ::close(channel.descriptor);
  channel.descriptor = -1;
  channel.unread.clear();
}

}  // namespace margay::command
