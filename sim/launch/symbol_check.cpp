#include "sim/launch/symbol_check.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "sim/launch/elf_symbols.hpp"

namespace margay::sim {
namespace {

using portals::Status;

constexpr std::string_view kOurLibraries[] = {"libmpi.so.12",       "libmpich.so.12",  "libmpifort.so.12",
                                              "libmpichfort.so.12", "libmpicxx.so.12", "libmpichcxx.so.12"};
constexpr std::string_view kPrefixes[] = {"MPI_",  "PMPI_", "MPIX_", "PMPIX_", "mpi_",   "pmpi_",
                                          "MPIR_", "MPII_", "QMPI_", "mpix_",  "_ZN3MPI"};

bool is_ours(std::string_view name) {
  return std::find(std::begin(kOurLibraries), std::end(kOurLibraries), name) != std::end(kOurLibraries);
}

// Another MPI's library under the same first name, but another number.
bool is_other_mpi(std::string_view name) {
  const bool is_mpi =
      name.substr(0, 9) == "libmpi.so" || name.substr(0, 14) == "libmpi_mpifh.s" || name.substr(0, 10) == "libmpi_cxx";
  return is_mpi && !is_ours(name);
}

struct Given {
  std::unordered_set<std::string> names;
  std::unordered_set<std::string> refusing;
};

Status given_symbols(const std::string& folder, Given& given) {
  for (std::string_view library : kOurLibraries) {
    const std::string path = folder + "/" + std::string(library);
    if (::access(path.c_str(), R_OK) != 0) continue;
    ElfSymbols symbols;
    if (Status status = read_elf_symbols(path, symbols); !status.ok()) return status;
    given.names.insert(symbols.defined.begin(), symbols.defined.end());
    given.refusing.insert(symbols.refusing.begin(), symbols.refusing.end());
  }
  return {};
}

}  // namespace

bool is_mpi_symbol(const std::string& name) {
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.compare(0, prefix.size(), prefix) == 0; });
}

Status check_symbols(const std::string& program, const std::string& library_folder, SymbolCheck& out) {
  out = SymbolCheck();
  ElfSymbols symbols;
  if (Status status = read_elf_symbols(program, symbols); !status.ok()) return status;
  bool needs_ours = false;
  for (const std::string& library : symbols.needed) {
    if (is_other_mpi(library)) out.other_library = library;
    needs_ours = needs_ours || is_ours(library);
  }
  if (!needs_ours) return {};
  std::vector<std::string> wanted;
  std::copy_if(symbols.undefined.begin(), symbols.undefined.end(), std::back_inserter(wanted), is_mpi_symbol);
  out.needed = wanted.size();
  out.uses_mpi = !wanted.empty();
  if (wanted.empty()) return {};
  Given given;
  if (Status status = given_symbols(library_folder, given); !status.ok()) return status;
  for (const std::string& name : wanted) {
    if (given.names.count(name) == 0) out.missing.push_back(name);
    // A profiling name refuses as the name itself does.
    if (given.refusing.count(name[0] == 'P' ? name.substr(1) : name) != 0) out.refusing.push_back(name);
  }
  std::sort(out.missing.begin(), out.missing.end());
  std::sort(out.refusing.begin(), out.refusing.end());
  return {};
}

}  // namespace margay::sim
