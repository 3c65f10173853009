#include "sim/launch/input_forwarder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace margay::sim {

using portals::Status;

InputForwarder::~InputForwarder() {
  stop();
  release();
}

Status InputForwarder::open(int& for_rank_0, int& for_others) {
  null_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_ < 0) return Status::error(std::string("cannot open /dev/null: ") + std::strerror(errno));
  for_others = null_;
  for_rank_0 = STDIN_FILENO;
  if (::isatty(STDIN_FILENO) == 0) return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Status::error(std::string("cannot make a pipe: ") + std::strerror(errno));
  rank_end_ = ends[0];
  pipe_ = ends[1];
  static_cast<void>(::fcntl(pipe_, F_SETFL, O_NONBLOCK));
  for_rank_0 = rank_end_;
  in_background_ = true;
  on_time();
  return {};
}

void InputForwarder::release() {
  for (int* end : {&null_, &rank_end_}) {
    if (*end >= 0) ::close(*end);
    *end = -1;
  }
}

void InputForwarder::on_time() {
  if (pipe_ < 0 || !in_background_ || ::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return;
  in_background_ = false;
  poller_.watch(STDIN_FILENO, {EventKind::kInput, 0});
}

void InputForwarder::on_event(Event event) {
  if (event.kind == EventKind::kInput) read_terminal();
  if (event.kind == EventKind::kInputPipe) write_pipe();
}

void InputForwarder::read_terminal() {
  if (pipe_ < 0) return;
  poller_.forget(STDIN_FILENO);
  if (::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) {
    in_background_ = true;
    return;
  }
  char bytes[4096];
  const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
    stop();
    return;
  }
  if (count > 0) unwritten_.append(bytes, static_cast<std::size_t>(count));
  write_pipe();
}

void InputForwarder::write_pipe() {
  if (pipe_ < 0) return;
  poller_.forget(pipe_);
  while (!unwritten_.empty()) {
    const ssize_t count = ::write(pipe_, unwritten_.data(), unwritten_.size());
    if (count > 0) {
      unwritten_.erase(0, static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      poller_.watch(pipe_, {EventKind::kInputPipe, 0}, true);
      return;
    } else if (errno != EINTR) {
      stop();
      return;
    }
  }
  poller_.watch(STDIN_FILENO, {EventKind::kInput, 0});
}

void InputForwarder::stop() {
  if (pipe_ < 0) return;
  poller_.forget(STDIN_FILENO);
  poller_.forget(pipe_);
  ::close(pipe_);
  pipe_ = -1;
}

}  // namespace margay::sim
