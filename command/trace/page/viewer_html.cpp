#include "command/trace/page/viewer_html.hpp"

// The assembler embeds the file; a literal of half a megabyte would slow the compiler.
asm(".section .rodata\n"
    ".global margay_page_begin\n"
    ".global margay_page_end\n"
    "margay_page_begin:\n"
    ".incbin \"" MARGAY_PAGE_FILE
    "\"\n"
    "margay_page_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" {
// Hidden, like all symbols of the program.
extern const char margay_page_begin[];
extern const char margay_page_end[];
}

namespace margay::command {

std::string_view page() {
  return {margay_page_begin, static_cast<std::size_t>(margay_page_end - margay_page_begin)};
}

}  // namespace margay::command
