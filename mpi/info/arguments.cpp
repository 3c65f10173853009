#include "mpi/info/arguments.hpp"

#include <cstring>
#include <string_view>

namespace margay::mpi {

// Only sets errors: they are raised after the table is unlocked.
Info* find_info(EarlyCall& call, const InfoAccess& infos, MPI_Info handle) {
  if (!call.ok()) return nullptr;
  Info* const found = infos.find(handle);
  if (found == nullptr) call.error(MPI_ERR_INFO, bad_info_text(handle));
  return found;
}

Info* find_own_info(EarlyCall& call, const InfoAccess& infos, MPI_Info handle) {
  if (handle == MPI_INFO_ENV) {
    call.error(MPI_ERR_INFO, "MPI_INFO_ENV is the library's: it cannot be changed or freed");
    return nullptr;
  }
  return find_info(call, infos, handle);
}

void check_key(EarlyCall& call, const char* key) {
  if (key == nullptr) {
    call.error(MPI_ERR_INFO_KEY, "key is a null pointer");
    return;
  }
  // Not strlen(), because an invalid pointer may lead to bytes without a zero.
  const std::string_view text(key, bounded_length(key, MPI_MAX_INFO_KEY));
  if (text.size() > MPI_MAX_INFO_KEY) {
    call.error(MPI_ERR_INFO_KEY,
               "key '" + std::string(text.substr(0, 32)) + "...' is longer than MPI_MAX_INFO_KEY (255)");
  } else if (text.find_first_not_of(' ') == std::string_view::npos) {
    call.error(MPI_ERR_INFO_KEY, "key is empty or blank");
  }
}

std::size_t bounded_length(const char* text, std::size_t limit) {
  return strnlen(text, limit + 1);
}

}  // namespace margay::mpi
