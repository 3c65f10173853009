#include "command/run/stream/rank_output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "command/run/stream/output_sink.hpp"

namespace margay::command {

void LineBuffer::add(std::string_view bytes, std::int64_t now_ns) {
  held_.append(bytes);
  added_bytes_ += bytes.size();
  last_ns_ = now_ns;
}

// Whole lines leave at once; an old partial line leaves with them.
std::string LineBuffer::take_ready(std::int64_t now_ns) {
  if (held_.empty()) return {};
  if (now_ns >= deadline_ns()) return take_rest();
  const std::size_t newline = held_.rfind('\n');
  // A line without an end must not fill the memory.
  if (newline == std::string::npos) return held_.size() > kMaxPartialBytes ? take_rest() : std::string();
  std::string ready = held_.substr(0, newline + 1);
  held_.erase(0, newline + 1);
  return ready;
}

std::string LineBuffer::take_rest() {
  return std::exchange(held_, std::string());
}

namespace {

using portals::Status;

// Linux's usual capacity of a pipe, so that one read empties it.
constexpr std::size_t kReadBytes = 65536;
// Bounds how long a prompt waits while other ranks print all the time.
constexpr std::int64_t kLongestHoldNs = 1'000'000'000;

bool same_file(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

// The first two destinations are always there, so indices 0 and 1 need no test.
RankOutput::RankOutput(Poller& poller, std::uint32_t ranks, const OutputOptions& options)
    : poller_(poller), options_(options), streams_(std::size_t{ranks} * 2) {
  for (int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    sinks_.push_back(std::make_unique<OutputSink>(descriptor, options.line_pattern, options.process_ranks));
    sink_names_.emplace_back();
    sink_is_watched_.push_back(false);
  }
  // If both streams are one terminal, pipe or file (2>&1), one destination keeps their lines apart.
  if (same_file(STDOUT_FILENO, STDERR_FILENO)) error_sink_ = 0;
}

RankOutput::~RankOutput() {
  for (Stream& stream : streams_) close_stream(stream);
  // The first two are the launcher's own descriptors.
  for (std::size_t sink = 2; sink < sinks_.size(); ++sink) ::close(sinks_[sink]->descriptor());
}

Status RankOutput::open(std::uint32_t rank, int& standard_output, int& standard_error) {
  if (Status status = open_stream(rank, EventKind::output, options_.output_pattern, standard_output); !status.ok()) {
    return status;
  }
  return open_stream(rank, EventKind::error, options_.error_pattern, standard_error);
}

Status RankOutput::open_stream(std::uint32_t rank, EventKind kind, const std::string& pattern, int& write_end) {
  Stream& stream = streams_[std::size_t{rank} * 2 + (kind == EventKind::error ? 1 : 0)];
  if (stream.descriptor >= 0) {
    while (read_once(stream, signed_monotonic_ns())) continue;
    show(stream, stream.buffer.take_rest());
    close_stream(stream);
  }
  stream = {};
  stream.rank = rank;
  stream.kind = kind;
  if (Status status = sink_for(rank, kind, pattern, stream.sink); !status.ok()) return status;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Status::error("cannot make a pipe for the output of rank " + std::to_string(rank) + ": " +
                         std::strerror(errno) + (errno == EMFILE ? " (the limit on open files, ulimit -n)" : ""));
  }
  // Only the launcher's end is non-blocking: programs expect that their own end blocks.
  static_cast<void>(::fcntl(ends[0], F_SETFL, O_NONBLOCK));
  stream.descriptor = ends[0];
  write_end = ends[1];
  stream.watched = poller_.watch(stream.descriptor, {kind, rank});
  return {};
}

// A file is opened before its rank starts, so that a wrong pattern fails early.
Status RankOutput::sink_for(std::uint32_t rank, EventKind kind, const std::string& pattern, std::size_t& sink) {
  sink = kind == EventKind::output ? 0 : error_sink_;
  if (pattern.empty()) return {};
  const std::string name = fill_pattern(pattern, rank, options_.process_ranks);
  // A pattern without %r names one file for all ranks.
  const auto known = std::find(sink_names_.begin() + 2, sink_names_.end(), name);
  sink = static_cast<std::size_t>(known - sink_names_.begin());
  if (known != sink_names_.end()) return {};
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return Status::error("cannot write " + name + ": " + std::strerror(errno));
  sinks_.push_back(std::make_unique<OutputSink>(file, options_.line_pattern, options_.process_ranks));
  sink_names_.push_back(name);
  sink_is_watched_.push_back(false);
  return {};
}

void RankOutput::on_event(Event event, std::int64_t now_ns) {
  if (event.kind == EventKind::sink) {
    flush(event.index);
  } else {
    static_cast<void>(
        read_once(streams_[std::size_t{event.index} * 2 + (event.kind == EventKind::error ? 1 : 0)], now_ns));
  }
}

bool RankOutput::read_once(Stream& stream, std::int64_t now_ns) {
  if (stream.descriptor < 0) return false;
  char bytes[kReadBytes];
  const ssize_t count = ::read(stream.descriptor, bytes, sizeof bytes);
  if (count < 0 && errno == EINTR) return true;
  if (count < 0 && errno == EAGAIN) return false;
  // The last line may lack its newline.
  if (count <= 0) {
    show(stream, stream.buffer.take_rest());
    close_stream(stream);
    return false;
  }
  last_read_ns_ = now_ns;
  stream.buffer.add(std::string_view(bytes, static_cast<std::size_t>(count)), now_ns);
  show(stream, stream.buffer.take_ready(now_ns));
  return true;
}

void RankOutput::show(Stream& stream, std::string_view text) {
  if (text.empty()) return;
  sinks_[stream.sink]->add(stream.rank, text);
  flush(stream.sink);
}

// The descriptor is registered for writing only while the queue is not empty; otherwise epoll would report it all the
// time.
void RankOutput::flush(std::size_t sink) {
  OutputSink& out = *sinks_[sink];
  const bool waits = out.flush() && !out.empty();
  look_for_failure(sink);
  balance();
  if (waits == sink_is_watched_[sink]) return;
  sink_is_watched_[sink] = waits;
  if (waits) {
    poller_.watch(out.descriptor(), {EventKind::sink, static_cast<std::uint32_t>(sink)}, true);
  } else {
    poller_.remove(out.descriptor());
  }
}

// Records the first failure. Standard error is excluded, because the message about it would be lost too.
void RankOutput::look_for_failure(std::size_t sink) {
  if (failure_.error != 0 || sink == 1 || sinks_[sink]->write_error() == 0) return;
  failure_.error = sinks_[sink]->write_error();
  failure_.output_name = sink == 0 ? "the standard output" : sink_names_[sink];
}

// Backpressure: while a queue is long, the ranks' pipes are not read, so the ranks block. Called after every flush,
// because an empty queue causes no further event.
void RankOutput::balance() {
  const bool full = std::any_of(sinks_.begin(), sinks_.end(), [](const auto& sink) { return sink->is_full(); });
  if (full == paused_) return;
  paused_ = full;
  const std::int64_t now_ns = signed_monotonic_ns();
  for (Stream& stream : streams_) {
    if (stream.descriptor < 0) continue;
    if (full) {
      poller_.remove(stream.descriptor);
    } else {
      poller_.watch(stream.descriptor, {stream.kind, stream.rank});
      // The end of a held line may be in the pipe.
      stream.buffer.restart(now_ns);
    }
  }
}

// A rank may be drained twice: at its own end, and at the job's end.
void RankOutput::drain(std::uint32_t rank, std::int64_t now_ns) {
  for (std::size_t which = 0; which < 2; ++which) {
    Stream& stream = streams_[std::size_t{rank} * 2 + which];
    // Reads only the bytes that are in the pipe now, because a child of the rank may continue to write.
    int there = 0;
    if (stream.descriptor >= 0 && ::ioctl(stream.descriptor, FIONREAD, &there) != 0) there = 0;
    for (std::size_t reads = 0; reads <= static_cast<std::size_t>(there) / kReadBytes && read_once(stream, now_ns);) {
      ++reads;
    }
    show(stream, stream.buffer.take_rest());
  }
}

void RankOutput::close_stream(Stream& stream) {
  if (stream.descriptor < 0) return;
  poller_.remove(stream.descriptor);
  ::close(stream.descriptor);
  stream.descriptor = -1;
}

// While other ranks print, a partial line is more likely that of a preempted writer than a prompt.
std::int64_t RankOutput::prompt_due_ns(const Stream& stream) const {
  const std::int64_t due = stream.buffer.deadline_ns();
  if (due < 0) return due;
  return std::min(std::max(due, last_read_ns_ + LineBuffer::kPromptAfterNs), due + kLongestHoldNs);
}

void RankOutput::on_time(std::int64_t now_ns) {
  // The end of a line may be in the pipe.
  if (paused_) return;
  for (Stream& stream : streams_) {
    const std::int64_t due = prompt_due_ns(stream);
    if (due < 0 || due > now_ns) continue;
    // The launcher itself may have been preempted: bytes that arrived since decide whether the line continues.
    if (!read_once(stream, now_ns)) show(stream, stream.buffer.take_ready(now_ns));
  }
}

std::int64_t RankOutput::deadline_ns() const {
  std::int64_t first = -1;
  if (paused_) return first;
  for (const Stream& stream : streams_) {
    const std::int64_t due = prompt_due_ns(stream);
    if (due >= 0 && (first < 0 || due < first)) first = due;
  }
  return first;
}

void RankOutput::notice(std::string_view line) {
  sinks_[error_sink_]->add_notice(line);
  flush(error_sink_);
}

void RankOutput::print(std::string_view line) {
  sinks_[0]->add_notice(line);
  flush(0);
}

std::vector<ino_t> RankOutput::pipes() const {
  std::vector<ino_t> inodes;
  for (const Stream& stream : streams_) {
    struct stat about {};
    if (stream.descriptor >= 0 && ::fstat(stream.descriptor, &about) == 0) inodes.push_back(about.st_ino);
  }
  return inodes;
}

void RankOutput::finish(int patience_ms) {
  for (Stream& stream : streams_) {
    if (stream.descriptor >= 0) drain(stream.rank, signed_monotonic_ns());
    close_stream(stream);
  }
  for (std::size_t sink = 0; sink < sinks_.size(); ++sink) {
    sinks_[sink]->flush_all(patience_ms);
    look_for_failure(sink);
  }
}

}  // namespace margay::command
