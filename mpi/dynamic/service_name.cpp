#include "mpi/dynamic/service_name.hpp"

namespace margay::mpi {

std::string service_word(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string word;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > ' ' && byte < 0x7f && byte != '=' && byte != '%') {
      word += letter;
    } else {
      word += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return word;
}

}  // namespace margay::mpi
