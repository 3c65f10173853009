// A terminal as a screen: the alternate screen buffer, and keys as they are pressed.
// The former state is restored by the destructor and while the program is suspended. Terminating signals arrive as
// events, so that none of them leaves the terminal changed.
#pragma once

#include <signal.h>
#include <termios.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// A key, a resize, a timeout or the end.
struct TerminalEvent {
  enum class Kind : std::uint8_t { time, key, resized, end };
  // Keys without a character.
  static constexpr int kUp = 256;
  static constexpr int kDown = 257;
  static constexpr int kPageUp = 258;
  static constexpr int kPageDown = 259;

  Kind kind = Kind::time;
  // The key, or the terminating signal (0: the terminal is gone).
  int value = 0;
};

// The screen. At most one exists in a process, because it changes signal masks and terminal modes.
class Terminal {
 public:
  Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  // Enters the screen. Reads keys from standard input, if that is a terminal too. Requires: standard output is a
  // terminal. Error: signals cannot be redirected.
  [[nodiscard]] portals::Status open();

  // The size now, in characters.
  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] std::size_t columns() const;
  // Draws lines of printable ASCII from the top; lines that do not fit are cut. `reversed`: lines in reverse video. If
  // the terminal accepts no more (it is stopped, or its reader does not read) and a signal arrives, the remainder is
  // omitted.
  void draw(const std::vector<std::string>& lines, const std::vector<std::size_t>& reversed);
  // The next event within `timeout_ms`. A Ctrl-Z suspends the program inside this call. When the program continues,
  // after a Ctrl-Z or a SIGSTOP, the event is a resize, so that the caller draws the screen again.
  [[nodiscard]] TerminalEvent wait(int timeout_ms);

 private:
  // The limit of a write's wait for room: until a signal arrives, or a short time, as when the screen is left.
  enum class Patience : std::uint8_t { until_signal, short_ };

  // Saves the terminal's state and switches to the screen.
  void enter();
  // Switches again after another program has used the terminal.
  void enter_again();
  // Restores the state.
  void leave();
  void open_output();
  // Writes that cannot block the program forever: they end with a signal or after a short time.
  [[nodiscard]] bool wait_for_room(Patience patience) const;
  [[nodiscard]] bool write_all(std::string_view text, Patience patience);
  [[nodiscard]] TerminalEvent take_signal();
  [[nodiscard]] TerminalEvent take_keys(short events);

  bool entered_ = false;
  bool has_keys_ = false;
  // A write has failed: the terminal is gone.
  bool gone_ = false;
  // The terminal, opened a second time so that it has flags of its own; -1: standard output is used.
  int output_ = -1;
  int signals_ = -1;
  // The state to restore.
  sigset_t mask_before_{};
  termios keys_before_{};
  // Keys that were read and are not returned yet.
  std::string keys_;
};

}  // namespace margay::command
