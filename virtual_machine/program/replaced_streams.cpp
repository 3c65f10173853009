// Functions of libc that write to descriptors 1 and 2 or read from 0 without stdio, or change the standard streams.

#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "virtual_machine/program/rank_state.hpp"
#include "virtual_machine/program/real.hpp"
#include "virtual_machine/program/standard_streams.hpp"

using margay::virtual_machine::is_standard_stream;
using margay::virtual_machine::pass_on_standard_output;
using margay::virtual_machine::RankState;
using margay::virtual_machine::read_standard_input;
using margay::virtual_machine::Real;
using margay::virtual_machine::write_to_process;

namespace {

constinit Real<ssize_t(int, const iovec*, int)> real_writev("writev");
constinit Real<ssize_t(int, void*, std::size_t)> real_read("read");
constinit Real<int(int, const char*, va_list)> real_vdprintf("vdprintf");
constinit Real<int(FILE*, char*, int, std::size_t)> real_setvbuf("setvbuf");
constinit Real<void(FILE*, char*, std::size_t)> real_setbuffer("setbuffer");
constinit Real<int(FILE*)> real_fclose("fclose");
constinit Real<FILE*(const char*, const char*, FILE*)> real_freopen("freopen");
constinit Real<bool(bool)> real_sync_with_stdio("_ZNSt8ios_base15sync_with_stdioEb");

// The calling rank, if the descriptor is its standard output or standard error; otherwise null.
[[nodiscard]] RankState* writer_to(int descriptor) {
  return descriptor == STDOUT_FILENO || descriptor == STDERR_FILENO ? RankState::calling() : nullptr;
}

// In the order of the calls, as on a terminal: text that printf has left in its buffer is written first.
void write_to(RankState& rank, int descriptor, std::string_view text) {
  if (descriptor == STDOUT_FILENO) pass_on_standard_output();
  rank.output().add(descriptor, text);
}

// All ranks share the buffers of the standard streams, so a rank must not change or close them.
[[nodiscard]] bool is_shared_stream(const FILE* file) {
  return is_standard_stream(file) && RankState::calling() != nullptr;
}

[[nodiscard]] int print(int descriptor, const char* format, va_list arguments) {
  RankState* const rank = writer_to(descriptor);
  if (rank == nullptr) return real_vdprintf(descriptor, format, arguments);
  char* text = nullptr;
  const int length = ::vasprintf(&text, format, arguments);
  if (length >= 0) write_to(*rank, descriptor, {text, static_cast<std::size_t>(length)});
  if (length >= 0) std::free(text);
  return length;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t write(int descriptor, const void* data, std::size_t bytes) {
  RankState* const rank = writer_to(descriptor);
  if (rank == nullptr) return write_to_process(descriptor, data, bytes);
  write_to(*rank, descriptor, {static_cast<const char*>(data), bytes});
  return static_cast<ssize_t>(bytes);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  RankState* const rank = writer_to(descriptor);
  if (rank == nullptr || count < 0) return real_writev(descriptor, parts, count);
  ssize_t bytes = 0;
  for (const iovec& part : std::span(parts, static_cast<std::size_t>(count))) {
    write_to(*rank, descriptor, {static_cast<const char*>(part.iov_base), part.iov_len});
    bytes += static_cast<ssize_t>(part.iov_len);
  }
  return bytes;
}

ssize_t read(int descriptor, void* buffer, std::size_t bytes) {
  const bool is_input = descriptor == STDIN_FILENO && RankState::calling() != nullptr;
  return is_input ? read_standard_input(buffer, bytes) : real_read(descriptor, buffer, bytes);
}

int vdprintf(int descriptor, const char* format, va_list arguments) {
  return print(descriptor, format, arguments);
}

int dprintf(int descriptor, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = print(descriptor, format, arguments);
  va_end(arguments);
  return length;
}

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of libc
int __vdprintf_chk(int descriptor, int, const char* format, va_list arguments) {
  return print(descriptor, format, arguments);
}

int __dprintf_chk(int descriptor, int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = print(descriptor, format, arguments);
  va_end(arguments);
  return length;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

int setvbuf(FILE* file, char* buffer, int mode, std::size_t bytes) noexcept {
  return is_shared_stream(file) ? 0 : real_setvbuf(file, buffer, mode, bytes);
}

void setbuffer(FILE* file, char* buffer, std::size_t bytes) noexcept {
  if (!is_shared_stream(file)) real_setbuffer(file, buffer, bytes);
}

void setbuf(FILE* file, char* buffer) noexcept {
  ::setbuffer(file, buffer, BUFSIZ);
}

void setlinebuf(FILE* file) noexcept {
  ::setvbuf(file, nullptr, _IOLBF, 0);
}

int fclose(FILE* file) {
  return is_shared_stream(file) ? std::fflush(file) : real_fclose(file);
}

// The rank's stdin, stdout or stderr becomes a file of its own. Without a path only the mode would change.
FILE* freopen(const char* path, const char* mode, FILE* file) {
  if (!is_shared_stream(file)) return real_freopen(path, mode, file);
  if (path == nullptr) return file;
  std::fflush(file);
  FILE*& variable = file == stdin ? stdin : file == stdout ? stdout : stderr;
  FILE* const opened = std::fopen(path, mode);
  if (opened != nullptr) variable = opened;
  return opened;
}

FILE* freopen64(const char* path, const char* mode, FILE* file) {
  return ::freopen(path, mode, file);
}

// std::ios_base::sync_with_stdio. Without synchronization the ranks would share the buffer of cout.
bool sync_with_stdio(bool on) __asm__("_ZNSt8ios_base15sync_with_stdioEb");

bool sync_with_stdio(bool on) {
  return RankState::calling() != nullptr || real_sync_with_stdio(on);
}

}  // extern "C"
#pragma GCC visibility pop
