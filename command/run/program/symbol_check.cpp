#include "command/run/program/symbol_check.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <string_view>
#include <unordered_set>

#include "command/run/program/elf_symbols.hpp"
#include "command/run/program/library_search.hpp"

namespace margay::command {
namespace {

using portals::Status;
using NameSet = std::unordered_set<std::string>;

constexpr std::string_view kOurLibraries[] = {"libmpi.so.12", "libmpich.so.12"};
// MPICH's bindings, which work on margay's library. libmpi_cxx and libmpi_mpifh are Open MPI's.
constexpr std::string_view kBindings[] = {"libmpifort.so.12", "libmpichfort.so.12", "libmpicxx.so.12",
                                          "libmpichcxx.so.12"};
constexpr std::string_view kOtherMpis[] = {"libmpi.so", "libmpi_mpifh.s", "libmpi_cxx"};
// The libraries of the languages: they do not call MPI but define most names, so reading them would add 0.5 ms to each
// start.
constexpr std::string_view kLanguages[] = {"libc.so.6",       "libm.so.6",  "libstdc++.so.6", "libgcc_s.so.1",
                                           "libpthread.so.0", "libdl.so.2", "librt.so.1",     "ld-linux-x86-64.so.2"};
constexpr std::string_view kPrefixes[] = {"MPI_",  "PMPI_", "MPIX_", "PMPIX_", "mpi_",   "pmpi_",
                                          "MPIR_", "MPII_", "QMPI_", "mpix_",  "_ZN3MPI"};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

template <std::size_t N>
bool begins_with_one_of(const std::string_view (&prefixes)[N], std::string_view name) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [name](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; });
}

// Whether a library belongs to another MPI: a libmpi.so with another version number, or a binding of Open MPI.
bool is_other_mpi(std::string_view name) {
  return begins_with_one_of(kOtherMpis, name) && !is_one_of(kOurLibraries, name);
}

struct File {
  std::string path;
  // The name in messages; empty: the program itself.
  std::string shown;
  ElfSymbols symbols;
  NamedFolders folders;
};

// The files of a program: the program itself, then its libraries in the order of loading, except the libraries of
// margay and of another MPI.
class Files {
 public:
  Files(const std::string& library_path, SymbolCheck& check) : search_(library_path), check_(check) {}

  Status read(const std::string& program) {
    if (Status status = add(program, {}, NamedFolders()); !status.ok()) return status;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const File& file = files_[i];
      for (const std::string& library : file.symbols.needed) {
        if (Status status = bring(library, file); !status.ok()) return status;
      }
    }
    return {};
  }

  [[nodiscard]] const std::deque<File>& all() const { return files_; }
  // Whether one of the files needs a library that margay replaces.
  [[nodiscard]] bool need_ours() const { return need_ours_; }

 private:
  // Each library is examined once, for the first file that needs it.
  Status bring(const std::string& library, const File& by) {
    if (is_one_of(kLanguages, library) || !seen_.insert(library).second) return {};
    need_ours_ = need_ours_ || is_one_of(kOurLibraries, library) || is_one_of(kBindings, library);
    if (is_one_of(kOurLibraries, library)) return {};
    if (is_other_mpi(library)) {
      check_.other_mpi.push_back({library, by.shown});
      return {};
    }
    const std::string path = search_.find(library, by.folders);
    if (!path.empty()) return add(path, path, by.folders);
    check_.not_found.push_back({library, by.shown});
    return {};
  }

  Status add(const std::string& path, const std::string& shown, const NamedFolders& loader) {
    File file;
    file.path = path;
    file.shown = shown;
    if (Status status = read_elf_symbols(path, file.symbols); !status.ok()) return status;
    file.folders = named_folders(path, file.symbols, loader);
    files_.push_back(std::move(file));
    return {};
  }

  LibrarySearch search_;
  SymbolCheck& check_;
  // A deque: references to files stay valid while libraries are added.
  std::deque<File> files_;
  NameSet seen_;
  bool need_ours_ = false;
};

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// The names of unimplemented functions in C and in Fortran: mpi_put_, mpi_put__, mpi_put, and for mpi_f08 mpi_put_f08_
// and, with a buffer, mpi_put_f08ts_.
NameSet refusing_names(const ElfSymbols& ours) {
  NameSet names;
  for (const std::string& name : ours.refusing) {
    for (const char* ending : {"", "_", "__", "_f08_", "_f08ts_"}) names.insert(in_lower_case(name) + ending);
    names.insert(name);
  }
  return names;
}

// A function is unimplemented under its profiling name, too.
std::string without_profiling(const std::string& name) {
  return name[0] == 'P' || name.compare(0, 4, "pmpi") == 0 ? name.substr(1) : name;
}

// A symbol that any file defines counts as defined: the loader resolves names over all files.
void judge(const std::deque<File>& files, const ElfSymbols& ours, SymbolCheck& out) {
  NameSet given(ours.defined.begin(), ours.defined.end());
  const NameSet refusing = refusing_names(ours);
  for (const File& file : files) {
    // A program may bring MPI functions of its own, as a profiling library does.
    for (const std::string& name : file.symbols.defined) {
      if (is_mpi_symbol(name)) given.insert(name);
    }
  }
  NameSet needed;
  for (const File& file : files) {
    const bool is_binding = is_one_of(kBindings, std::filesystem::path(file.path).filename().string());
    for (const std::string& name : file.symbols.undefined) {
      if (!is_mpi_symbol(name)) continue;
      needed.insert(name);
      if (given.count(name) == 0) out.missing.push_back({name, file.shown});
      // A binding refers to all functions, whether the program calls them or not.
      if (!is_binding && refusing.count(without_profiling(name)) != 0) out.refusing.push_back({name, file.shown});
    }
  }
  out.needed = needed.size();
  out.uses_mpi = !needed.empty();
}

}  // namespace

bool is_mpi_symbol(const std::string& name) {
  return begins_with_one_of(kPrefixes, name);
}

Status check_symbols(const std::string& program, const std::string& library_folder, const std::string& library_path,
                     SymbolCheck& out) {
  out = SymbolCheck();
  // The loader resolves a program's links before it takes $ORIGIN.
  char* const real = ::realpath(program.c_str(), nullptr);
  const std::string path = real != nullptr ? real : program;
  std::free(real);
  Files files(library_path, out);
  if (Status status = files.read(path); !status.ok()) return status;
  if (!files.need_ours()) return {};
  ElfSymbols ours;
  if (Status status = read_elf_symbols(library_folder + "/libmpi.so.12", ours); !status.ok()) return status;
  judge(files.all(), ours, out);
  std::sort(out.missing.begin(), out.missing.end());
  std::sort(out.refusing.begin(), out.refusing.end());
  return {};
}

std::string describe_need(const Need& need) {
  return need.file.empty() ? need.name : need.name + " in " + need.file;
}

}  // namespace margay::command
