// The terminal as a screen: the alternate one, keys as they are pressed. Restored at the end of its life, and while it
// is suspended; signals that end a program come as events, so that none of them leaves the terminal as it is.
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

struct TerminalEvent {
  enum class Kind : std::uint8_t { kTime, kKey, kResized, kEnd };
  // Keys that are no letters.
  static constexpr int kUp = 256;
  static constexpr int kDown = 257;
  static constexpr int kPageUp = 258;
  static constexpr int kPageDown = 259;

  Kind kind = Kind::kTime;
  int value = 0;  // the key, or the signal that ends (0: the terminal is gone)
};

class Terminal {
 public:
  Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  // Requires: standard output is a terminal. Keys are taken from standard input if that is one too.
  [[nodiscard]] portals::Status open();

  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] std::size_t columns() const;
  // Lines of printable ASCII from the top; what does not fit is cut. `reversed`: lines in reverse video. When the
  // terminal takes no more (it is stopped, or nobody reads it) and a signal comes, the rest is left out.
  void draw(const std::vector<std::string>& lines, const std::vector<std::size_t>& reversed);
  // The next thing that happens within `timeout_ms`. (A Ctrl-Z is done inside; it,
  // and the end of a SIGSTOP, come back as a resize.)
  [[nodiscard]] TerminalEvent wait(int timeout_ms);

 private:
  enum class Patience : std::uint8_t { kUntilSignal, kShort };

  void enter();
  void enter_again();
  void leave();
  void open_output();
  [[nodiscard]] bool wait_for_room(Patience patience) const;
  [[nodiscard]] bool write_all(std::string_view text, Patience patience);
  [[nodiscard]] TerminalEvent take_signal();
  [[nodiscard]] TerminalEvent take_keys(short events);

  bool entered_ = false;
  bool has_keys_ = false;
  bool gone_ = false;  // no write will do
  int output_ = -1;    // the terminal, with flags of its own; -1: standard output alone
  int signals_ = -1;
  sigset_t mask_before_{};
  termios keys_before_{};
  std::string keys_;  // read and not yet told
};

}  // namespace margay::command
