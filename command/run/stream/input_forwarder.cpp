#include "command/run/stream/input_forwarder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace margay::command {

using portals::Status;

InputForwarder::~InputForwarder() {
  stop();
  release();
}

// A terminal is not read before on_time(), here or later, has found the launcher in the terminal's foreground.
Status InputForwarder::open(const std::vector<std::uint32_t>& readers) {
  // The standard input of all ranks that are not readers: a read returns the end of the file at once, and takes no
  // bytes from the readers.
  null_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_ < 0) return Status::error(std::string("cannot open /dev/null: ") + std::strerror(errno));
  terminal_ = ::isatty(STDIN_FILENO) != 0;
  // A single reader gets standard input itself, so no bytes are copied, and the rank may seek in a file.
  if (readers.size() == 1 && !terminal_) {
    handed_to_ = readers.front();
    return {};
  }
  for (const std::uint32_t rank : readers) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Status::error(std::string("cannot make a pipe: ") + std::strerror(errno));
    // A rank that does not read must not block the launcher.
    static_cast<void>(::fcntl(ends[1], F_SETFL, O_NONBLOCK));
    readers_.push_back({rank, ends[0], ends[1], {}});
  }
  if (readers_.empty()) return {};
  in_background_ = terminal_;
  if (terminal_) {
    on_time();
  } else {
    go_on();
  }
  return {};
}

int InputForwarder::descriptor_for(std::uint32_t rank) const {
  if (handed_to_ == std::int64_t{rank}) return STDIN_FILENO;
  const auto found = std::ranges::find(readers_, rank, &Reader::rank);
  return found == readers_.end() ? null_ : found->end;
}

// Closes the launcher's copies of the ranks' ends. The ends for writing stay open.
void InputForwarder::release() {
  for (Reader& reader : readers_) {
    if (reader.end >= 0) ::close(reader.end);
    reader.end = -1;
  }
  if (null_ >= 0) ::close(null_);
  null_ = -1;
}

bool InputForwarder::forwards() const {
  return std::ranges::any_of(readers_, [](const Reader& reader) { return reader.pipe >= 0; });
}

void InputForwarder::on_time() {
  // Reading a terminal from the background fails, since SIGTTIN is ignored.
  if (!forwards() || !in_background_ || ::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return;
  in_background_ = false;
  go_on();
}

void InputForwarder::on_event(Event event) {
  if (event.kind == EventKind::input) {
    // go_on() registers standard input again when all pipes have taken the data.
    poller_.remove(STDIN_FILENO);
    read_more();
  } else if (event.kind == EventKind::input_pipe) {
    poller_.remove(readers_[event.index].pipe);
    write_to(event.index);
  }
  go_on();
}

// Registers standard input with epoll. Epoll does not accept a regular file, but reading one never blocks, so it is
// read at once.
void InputForwarder::go_on() {
  while (forwards() && !in_background_) {
    const bool all_written =
        std::ranges::all_of(readers_, [](const Reader& reader) { return reader.unwritten.empty(); });
    if (!all_written || poller_.watch(STDIN_FILENO, {EventKind::input, 0})) return;
    read_more();
  }
}

void InputForwarder::read_more() {
  if (!forwards()) return;
  if (terminal_ && ::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) {
    in_background_ = true;
    return;
  }
  char bytes[4096];
  const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
  // At the end of the input the ranks must see the end of theirs.
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) return stop();
  for (std::size_t i = 0; count > 0 && i < readers_.size(); ++i) {
    if (readers_[i].pipe < 0) continue;
    readers_[i].unwritten.append(bytes, static_cast<std::size_t>(count));
    write_to(i);
  }
}

void InputForwarder::write_to(std::size_t index) {
  Reader& reader = readers_[index];
  while (!reader.unwritten.empty()) {
    const ssize_t count = ::write(reader.pipe, reader.unwritten.data(), reader.unwritten.size());
    if (count > 0) {
      reader.unwritten.erase(0, static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      poller_.watch(reader.pipe, {EventKind::input_pipe, static_cast<std::uint32_t>(index)}, true);
      return;
      // EPIPE: the rank has closed its input, which is not an error.
    } else if (errno != EINTR) {
      return drop(reader);
    }
  }
}

void InputForwarder::drop(Reader& reader) {
  if (reader.pipe < 0) return;
  poller_.remove(reader.pipe);
  ::close(reader.pipe);
  reader.pipe = -1;
  reader.unwritten.clear();
}

void InputForwarder::stop() {
  if (!forwards()) return;
  poller_.remove(STDIN_FILENO);
  for (Reader& reader : readers_) drop(reader);
}

}  // namespace margay::command
