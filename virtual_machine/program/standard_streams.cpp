#include "virtual_machine/program/standard_streams.hpp"

#include <stdio_ext.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "virtual_machine/program/real.hpp"

namespace margay::virtual_machine {
namespace {

// The buffer of stdout. It is passed on when it is full, and at each change of the rank.
constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;

constinit std::array<FILE*, 3> streams = {};
constinit std::array<char, kBufferBytes> buffer = {};
constinit RankOutput* directed_to = nullptr;
constinit Real<ssize_t(int, void*, std::size_t)> real_read("read");

[[nodiscard]] ssize_t write_text(int descriptor, const char* text, std::size_t bytes) {
  if (directed_to == nullptr) {
    write_all_to_process(descriptor, {text, bytes});
  } else {
    directed_to->add(descriptor, {text, bytes});
  }
  return static_cast<ssize_t>(bytes);
}

ssize_t write_output(void*, const char* text, std::size_t bytes) {
  return write_text(1, text, bytes);
}

ssize_t write_error(void*, const char* text, std::size_t bytes) {
  return write_text(2, text, bytes);
}

ssize_t read_input(void*, char* text, std::size_t bytes) {
  return read_standard_input(text, bytes);
}

// Sets the result of fileno(), which programs pass to isatty and write; fopencookie leaves it invalid.
void set_descriptor(FILE* stream, int descriptor) {
  stream->_fileno = descriptor;
}

}  // namespace

void replace_standard_streams() {
  FILE* const input = ::fopencookie(nullptr, "r", {read_input, nullptr, nullptr, nullptr});
  FILE* const output = ::fopencookie(nullptr, "w", {nullptr, write_output, nullptr, nullptr});
  FILE* const error = ::fopencookie(nullptr, "w", {nullptr, write_error, nullptr, nullptr});
  // Out of memory: libc's streams remain.
  if (input == nullptr || output == nullptr || error == nullptr) return;
  // Errors are written at once, as by libc's stderr.
  std::setvbuf(output, buffer.data(), _IOFBF, buffer.size());
  std::setvbuf(error, nullptr, _IONBF, 0);
  streams = {input, output, error};
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    set_descriptor(streams[static_cast<std::size_t>(descriptor)], descriptor);
  }
  stdin = input;
  stdout = output;
  stderr = error;
}

bool is_standard_stream(const FILE* file) {
  return file != nullptr && (file == streams[0] || file == streams[1] || file == streams[2]);
}

// _flags, _IO_read_ptr, _IO_read_end and _IO_read_base are FILE's first members (bits/types/struct_FILE.h).
MemoryRange input_state() {
  if (streams[0] == nullptr) return {};
  return {reinterpret_cast<std::byte*>(streams[0]), offsetof(FILE, _IO_write_base)};
}

void direct_standard_streams_to(RankOutput* rank) {
  directed_to = rank;
}

void pass_on_standard_output() {
  if (streams[1] != nullptr && ::__fpending(streams[1]) > 0) std::fflush(streams[1]);
}

// A prompt is visible before its rank waits for the answer.
ssize_t read_standard_input(void* bytes, std::size_t count) {
  if (directed_to != nullptr && directed_to->rank() != 0) return 0;
  pass_on_standard_output();
  if (directed_to != nullptr) directed_to->write_partial_lines();
  return real_read(STDIN_FILENO, bytes, count);
}

}  // namespace margay::virtual_machine
