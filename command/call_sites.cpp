#include "command/call_sites.hpp"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <iostream>
#include <system_error>

namespace margay::command {

namespace {

// A parsed question, "BUILDID OFFSET PATH": a module at position 0, and an address in it.
struct SourceQuestion {
  sim::Definition module{};
  std::uint64_t address = 0;
};

// The whole of the middle token must be a hexadecimal number.
bool read_question(const std::string& text, SourceQuestion& question) {
  const std::size_t first = text.find(' ');
  const std::size_t second = first == std::string::npos ? first : text.find(' ', first + 1);
  if (second == std::string::npos) return false;
  const char* const end = text.data() + second;
  const auto [rest, error] = std::from_chars(text.data() + first + 1, end, question.address, 16);
  question.module.text = text.substr(0, first) + text.substr(second);
  return error == std::errc() && rest == end;
}

char* no_debug_path = nullptr;
// A null path: libdw searches debug information in the file itself and in its default folders.
constexpr Dwfl_Callbacks kCallbacks{.find_elf = dwfl_build_id_find_elf,
                                    .find_debuginfo = dwfl_standard_find_debuginfo,
                                    .section_address = dwfl_offline_section_address,
                                    .debuginfo_path = &no_debug_path};

// Opens a regular file only: the path comes from a trace and may name anything, and opening or reading a FIFO or a
// device could block. Returns a descriptor, or a negative number for any other file.
int open_regular(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat about {};
  if (descriptor < 0 || (::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode))) return descriptor;
  ::close(descriptor);
  return -1;
}

}  // namespace

struct CallSites::Module {
  // `text`: that of a module's definition, "BUILDID PATH".
  explicit Module(const std::string& text) {
    const std::size_t space = text.find(' ');
    if (space == std::string::npos) return;
    const std::string build_id = text.substr(0, space);
    const std::string path = text.substr(space + 1);
    const int descriptor = open_regular(path);
    if (descriptor < 0) return;
    dwfl = dwfl_begin(&kCallbacks);
    if (dwfl != nullptr) found = dwfl_report_offline(dwfl, path.c_str(), path.c_str(), descriptor);
    // On success libdw owns the descriptor.
    if (found == nullptr) ::close(descriptor);
    if (dwfl == nullptr) return;
    dwfl_report_end(dwfl, nullptr, nullptr);
    // Without a build id the file may be another build than the one that ran, and its lines would be wrong.
    if (found != nullptr && (build_id == "-" || build_id_of(found) != build_id)) found = nullptr;
    if (found != nullptr) dwfl_module_info(found, nullptr, &begin, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  ~Module() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  static std::string build_id_of(Dwfl_Module* module) {
    Elf* elf = nullptr;
    GElf_Addr bias = 0;
    // Reads the file, without which libdw has no build id.
    elf = dwfl_module_getelf(module, &bias);
    const unsigned char* bits = nullptr;
    GElf_Addr at = 0;
    const int bytes = elf == nullptr ? 0 : dwfl_module_build_id(module, &bits, &at);
    std::string text;
    for (int i = 0; i < bytes; ++i) text += fmt::format("{:02x}", bits[i]);
    return text.empty() ? "-" : text;
  }

  Dwfl* dwfl = nullptr;
  Dwfl_Module* found = nullptr;
  GElf_Addr begin = 0;
};

CallSites::CallSites() = default;
CallSites::~CallSites() = default;

// Modules are cached by build id and path: the same executable at another address is read once.
std::string CallSites::line_of(const sim::Definition& module, std::uint64_t address) {
  std::unique_ptr<Module>& known = modules_[module.text];
  if (known == nullptr) known = std::make_unique<Module>(module.text);
  if (known->found == nullptr) return "";
  // The return address is behind the call; the byte before it belongs to the call's line.
  Dwfl_Line* const line = dwfl_module_getsrc(known->found, known->begin + (address - 1 - module.number));
  if (line == nullptr) return "";
  int number = 0;
  const char* const file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
  if (file == nullptr || number == 0) return "";
  const std::string path = file;
  return sim::printable(fmt::format("{}:{}", path.substr(path.find_last_of('/') + 1), number));
}

std::string CallSites::name_of(const std::string& question) {
  SourceQuestion read;
  if (!read_question(question, read)) return "";
  const std::string line = line_of(read.module, read.address);
  if (!line.empty()) return line;
  const std::string& path = read.module.text;
  return sim::printable(fmt::format("{}+{:#x}", path.substr(path.find_last_of("/ ") + 1), read.address));
}

// Prints one line for each question, empty if there is no answer, so that the asker can count the lines.
int answer_source_questions(CallSites& call_sites) {
  for (std::string text; std::getline(std::cin, text);) {
    SourceQuestion question;
    const bool is_one = read_question(text, question);
    std::cout << (is_one ? call_sites.line_of(question.module, question.address) : "") << '\n';
  }
  return std::cout.flush() ? 0 : 1;
}

}  // namespace margay::command
