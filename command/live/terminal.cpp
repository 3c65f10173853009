#include "command/live/terminal.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace margay::command {

namespace {

using portals::Status;

// The time that an unresponsive terminal is waited for at the end.
constexpr int kShortMs = 200;
// Alternate screen, no cursor, cleared.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";

winsize size_now() {
  constexpr winsize kUsual{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 ? size : kUsual;
}

// Whether this process is in the terminal's foreground; a change from the background would stop it.
bool may_be_set(int terminal) {
  const pid_t group = ::tcgetpgrp(terminal);
  return group < 0 || group == ::getpgrp();
}

}  // namespace

// Signals are blocked before the screen is entered, because a signal in between would leave the terminal changed.
Status Terminal::open() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) sigaddset(&taken, signal);
  if (::sigprocmask(SIG_BLOCK, &taken, &mask_before_) != 0) {
    return Status::error(std::string("signals cannot be blocked: ") + std::strerror(errno));
  }
  signals_ = ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) {
    const std::string why = std::strerror(errno);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    return Status::error("signals cannot be read: " + why);
  }
  open_output();
  enter();
  return {};
}

// Opens the terminal anew: O_NONBLOCK on the shared standard output would affect other processes. The terminal of
// another user (after su) cannot be opened again.
void Terminal::open_output() {
  output_ = ::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

// Waits until the terminal accepts a byte; false after a signal or the short wait.
bool Terminal::wait_for_room(Patience patience) const {
  const bool any = patience == Patience::until_signal;
  std::array<pollfd, 2> descriptors{{{output_ >= 0 ? output_ : STDOUT_FILENO, POLLOUT, 0}, {signals_, POLLIN, 0}}};
  const int ready = ::poll(descriptors.data(), any ? 2 : 1, any ? -1 : kShortMs);
  return ready < 0 ? errno == EINTR : descriptors[0].revents != 0;
}

// Whether the whole text was written.
bool Terminal::write_all(std::string_view text, Patience patience) {
  const int descriptor = output_ >= 0 ? output_ : STDOUT_FILENO;
  while (!text.empty() && !gone_) {
    // After poll() a blocking descriptor is certain to accept one byte without blocking, but no more.
    if (output_ < 0 && !wait_for_room(patience)) return false;
    const ssize_t written = ::write(descriptor, text.data(), output_ < 0 ? 1 : text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      if (!wait_for_room(patience)) return false;
    } else if (written == 0 || errno != EINTR) {
      gone_ = true;
    }
  }
  return text.empty();
}

Terminal::~Terminal() {
  leave();
  if (output_ >= 0) ::close(output_);
  if (signals_ < 0) return;
  ::close(signals_);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

// The modes are saved anew after each suspension, since the shell may have changed them.
void Terminal::enter() {
  has_keys_ = ::isatty(STDIN_FILENO) != 0 && ::tcgetattr(STDIN_FILENO, &keys_before_) == 0;
  enter_again();
  entered_ = true;
}

void Terminal::enter_again() {
  if (has_keys_) {
    termios keys = keys_before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  static_cast<void>(write_all(kEnter, Patience::until_signal));
}

// Restores the terminal as far as possible, even if it is stopped or no process reads it.
void Terminal::leave() {
  if (!std::exchange(entered_, false)) return;
  const bool may_set = may_be_set(STDOUT_FILENO);
  if (may_set) {
    // Releases a screen that Ctrl-S stopped: TCOON undoes a TCOOFF only.
    static_cast<void>(::tcflow(STDOUT_FILENO, TCOOFF));
    static_cast<void>(::tcflow(STDOUT_FILENO, TCOON));
  }
  if (!write_all(kLeave, Patience::short_) && !gone_ && may_set) {
    // Nothing reads the output: discarding it makes room.
    static_cast<void>(::tcflush(STDOUT_FILENO, TCOFLUSH));
    static_cast<void>(write_all(kLeave, Patience::short_));
  }
  if (has_keys_ && may_be_set(STDIN_FILENO)) ::tcsetattr(STDIN_FILENO, TCSANOW, &keys_before_);
}

std::size_t Terminal::rows() const {
  return size_now().ws_row;
}
std::size_t Terminal::columns() const {
  return size_now().ws_col;
}

// Writes every line in place, without clearing the screen first, so that nothing flickers.
void Terminal::draw(const std::vector<std::string>& lines, const std::vector<std::size_t>& reversed) {
  const std::size_t rows = this->rows();
  const std::size_t columns = this->columns();
  std::string text;
  for (std::size_t row = 0; row < std::min(lines.size(), rows); ++row) {
    const bool marked = std::ranges::find(reversed, row) != reversed.end();
    text += fmt::format("\x1b[{};1H", row + 1) + (marked ? "\x1b[7m" : "") + lines[row].substr(0, columns) +
            (marked ? "\x1b[0m" : "") + (lines[row].size() < columns ? "\x1b[K" : "");
  }
  static_cast<void>(write_all(text + (lines.size() < rows ? "\x1b[J" : ""), Patience::until_signal));
}

// Stops itself by SIGSTOP, because SIGTSTP is blocked here.
TerminalEvent Terminal::take_signal() {
  signalfd_siginfo info{};
  if (::read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return {};
  const int signal = static_cast<int>(info.ssi_signo);
  switch (signal) {
    case SIGTSTP:
      leave();
      ::kill(::getpid(), SIGSTOP);
      enter();
      break;
    // The end of a SIGSTOP, which cannot be seen in advance; a shell has used the terminal meanwhile.
    case SIGCONT:
      enter_again();
      break;
    case SIGWINCH:
      break;
    default:
      return {TerminalEvent::Kind::end, signal};
  }
  return {TerminalEvent::Kind::resized, 0};
}

TerminalEvent Terminal::take_keys(short events) {
  std::array<char, 64> bytes{};
  const ssize_t read = (events & POLLIN) != 0 ? ::read(STDIN_FILENO, bytes.data(), bytes.size()) : 0;
  if (read < 0 && errno == EINTR) return {};
  if (read <= 0) return {TerminalEvent::Kind::end, 0};
  keys_.append(bytes.data(), static_cast<std::size_t>(read));
  return {};
}

namespace {

// Removes the first key; a sequence of several bytes is one key.
int next_key(std::string& keys) {
  struct Sequence {
    std::string_view text;
    int key;
  };
  constexpr std::array<Sequence, 6> kSequences{{{"\x1b[A", TerminalEvent::kUp},
                                                {"\x1b[B", TerminalEvent::kDown},
                                                {"\x1bOA", TerminalEvent::kUp},
                                                {"\x1bOB", TerminalEvent::kDown},
                                                {"\x1b[5~", TerminalEvent::kPageUp},
                                                {"\x1b[6~", TerminalEvent::kPageDown}}};
  for (const Sequence& sequence : kSequences) {
    if (!keys.starts_with(sequence.text)) continue;
    keys.erase(0, sequence.text.size());
    return sequence.key;
  }
  const int key = static_cast<unsigned char>(keys.front());
  keys.erase(0, 1);
  return key;
}

}  // namespace

// Keys that were read together are returned one by one before the next poll.
TerminalEvent Terminal::wait(int timeout_ms) {
  if (gone_) return {TerminalEvent::Kind::end, 0};
  if (keys_.empty()) {
    std::array<pollfd, 2> descriptors{{{signals_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    const int ready = ::poll(descriptors.data(), has_keys_ ? 2 : 1, timeout_ms);
    if (ready <= 0) return {};
    if (descriptors[0].revents != 0) return take_signal();
    if (const TerminalEvent event = take_keys(descriptors[1].revents); keys_.empty()) return event;
  }
  return {TerminalEvent::Kind::key, next_key(keys_)};
}

}  // namespace margay::command
