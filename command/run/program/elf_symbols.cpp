#include "command/run/program/elf_symbols.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace margay::command {
namespace {

using portals::Status;

constexpr std::string_view kRefusingSection = "margay_refusing";

// A bounds-checked view of a file's bytes.
class Image {
 public:
  explicit Image(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t length) const {
    // The comparison is written without a sum, which could overflow.
    return offset <= bytes_.size() && length <= bytes_.size() - offset;
  }

  template <typename Record>
  [[nodiscard]] bool read(std::uint64_t offset, Record& out) const {
    if (!holds(offset, sizeof(Record))) return false;
    // Offsets need not be aligned.
    std::memcpy(&out, bytes_.data() + offset, sizeof(Record));
    return true;
  }

  // A zero-terminated text inside [table, table + table_bytes); nothing if it does not end there.
  [[nodiscard]] std::optional<std::string> text(std::uint64_t table, std::uint64_t table_bytes,
                                                std::uint64_t index) const {
    if (!holds(table, table_bytes) || index >= table_bytes) return std::nullopt;
    const char* begin = reinterpret_cast<const char*>(bytes_.data() + table + index);
    const void* end = std::memchr(begin, 0, table_bytes - index);
    if (end == nullptr) return std::nullopt;
    return std::string(begin, static_cast<const char*>(end));
  }

 private:
  std::span<const std::byte> bytes_;
};

Status malformed(const char* what) {
  return Status::error(std::string("malformed ELF file: ") + what);
}

bool read_section(const Image& image, const Elf64_Ehdr& header, std::uint64_t index, Elf64_Shdr& out) {
  std::uint64_t offset = 0;
  // The numbers come from the file, so the position may overflow.
  return index < header.e_shnum && !__builtin_mul_overflow(index, sizeof(Elf64_Shdr), &offset) &&
         !__builtin_add_overflow(offset, header.e_shoff, &offset) && image.read(offset, out);
}

// Sorts a dynamic symbol table into defined, undefined and weakly undefined names.
Status add_symbols(const Image& image, const Elf64_Shdr& table, const Elf64_Shdr& names, ElfSymbols& out) {
  if (table.sh_entsize != sizeof(Elf64_Sym) || !image.holds(table.sh_offset, table.sh_size))
    return malformed("symbol table");
  // Symbol 0 is reserved.
  for (std::uint64_t i = 1; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    Elf64_Sym symbol;
    if (!image.read(table.sh_offset + i * sizeof(Elf64_Sym), symbol)) return malformed("symbol");
    std::optional<std::string> name = image.text(names.sh_offset, names.sh_size, symbol.st_name);
    if (!name) return malformed("symbol name");
    if (name->empty()) continue;
    if (symbol.st_shndx != SHN_UNDEF) {
      out.defined.push_back(std::move(*name));
    } else if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK) {
      out.weak_undefined.push_back(std::move(*name));
    } else {
      out.undefined.push_back(std::move(*name));
    }
  }
  return {};
}

Status add_dynamic(const Image& image, const Elf64_Shdr& dynamic, const Elf64_Shdr& names, ElfSymbols& out) {
  if (!image.holds(dynamic.sh_offset, dynamic.sh_size)) return malformed("dynamic section");
  for (std::uint64_t i = 0; i < dynamic.sh_size / sizeof(Elf64_Dyn); ++i) {
    Elf64_Dyn entry;
    if (!image.read(dynamic.sh_offset + i * sizeof(Elf64_Dyn), entry)) return malformed("dynamic entry");
    if (entry.d_tag == DT_NULL) return {};
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    std::optional<std::string> text = image.text(names.sh_offset, names.sh_size, entry.d_un.d_val);
    if (!text) return malformed("name of a needed library");
    if (entry.d_tag == DT_NEEDED) {
      out.needed.push_back(std::move(*text));
    } else {
      (entry.d_tag == DT_RPATH ? out.rpath : out.runpath) = std::move(*text);
    }
  }
  return {};
}

// Reads zero-terminated names; the compiler may have put zeros between them for alignment.
Status add_refusing(const Image& image, const Elf64_Shdr& section, ElfSymbols& out) {
  for (std::uint64_t at = 0; at < section.sh_size;) {
    std::optional<std::string> name = image.text(section.sh_offset, section.sh_size, at);
    if (!name) return malformed("list of unimplemented functions");
    at += name->size() + 1;
    if (!name->empty()) out.refusing.push_back(std::move(*name));
  }
  return {};
}

bool has_name(const Image& image, const Elf64_Shdr& section, const Elf64_Shdr& names, std::string_view wanted) {
  const std::optional<std::string> name = image.text(names.sh_offset, names.sh_size, section.sh_name);
  return name && *name == wanted;
}

// Uses the section headers: a stripped file still has those of its dynamic tables.
Status read_sections(const Image& image, const Elf64_Ehdr& header, ElfSymbols& out) {
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    Elf64_Shdr names;
    if (!read_section(image, header, i, section)) return malformed("section header");
    if (section.sh_type == SHT_PROGBITS && read_section(image, header, header.e_shstrndx, names) &&
        has_name(image, section, names, kRefusingSection)) {
      if (Status status = add_refusing(image, section, out); !status.ok()) return status;
    }
    // The loader resolves dynamic symbols only.
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_DYNAMIC) continue;
    if (!read_section(image, header, section.sh_link, names)) return malformed("link of a section");
    Status status = section.sh_type == SHT_DYNSYM ? add_symbols(image, section, names, out)
                                                  : add_dynamic(image, section, names, out);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Status read_elf_symbols(std::span<const std::byte> file, ElfSymbols& out) {
  out = ElfSymbols();
  const Image image(file);
  Elf64_Ehdr header;
  // A script is not an error here; exec decides.
  if (file.size() < SELFMAG || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) return {};
  if (!image.read(0, header)) return malformed("cut short in its header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64)
    return Status::error("a 32-bit program cannot use margay's 64-bit library");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) return Status::error("an ELF file of another byte order");
  if (header.e_shnum > 0 && header.e_shentsize != sizeof(Elf64_Shdr)) return malformed("size of section headers");
  out.is_elf = true;
  return read_sections(image, header, out);
}

Status read_elf_symbols(const std::string& path, ElfSymbols& out) {
  // Without O_NONBLOCK the open of a named pipe would wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return Status::error("cannot read " + path + ": " + std::strerror(errno));
  struct stat info {};
  void* address = MAP_FAILED;
  const bool is_file = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  const auto bytes = static_cast<std::size_t>(info.st_size);
  if (is_file && bytes > 0) address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  ::close(descriptor);
  out = ElfSymbols();
  if (is_file && bytes == 0) return {};
  if (address == MAP_FAILED) return Status::error("cannot read " + path + (is_file ? "" : ": not a regular file"));
  Status status = read_elf_symbols(std::span(static_cast<const std::byte*>(address), bytes), out);
  ::munmap(address, bytes);
  return status.ok() ? status : Status::error(path + ": " + status.sentence());
}

}  // namespace margay::command
