#include "mpi_adi/device/pieces.hpp"

#include <algorithm>
#include <cstring>

namespace margay::mpi_adi {

namespace {

std::uint64_t total_bytes(std::int64_t count, const Datatype& type) {
  return static_cast<std::uint64_t>(count) * type.size;
}

// Visits the runs of elements from the first on, until `bytes` are told.
template <typename Visit>
void for_each_run(std::byte* buffer, const Datatype& type, std::uint64_t bytes, Visit&& visit) {
  for (std::byte* element = buffer; bytes > 0; element += type.extent) {
    for (const TypeBlock& block : type.blocks) {
      const std::uint64_t run = std::min(block.bytes, bytes);
      if (run != 0) visit(element + block.offset, run);
      bytes -= run;
    }
  }
}

}  // namespace

portals::Region Pieces::pieces_to_send(void* buffer, std::int64_t count, const Datatype& type) {
  auto* const bytes = static_cast<std::byte*>(buffer);
  const std::uint64_t total = total_bytes(count, type);
  if (total == 0) return {};
  if (tabulate(bytes, count, type)) {
    return table_.size() == 1 ? portals::Region(table_[0]) : portals::Region(std::span<const portals::Buffer>(table_));
  }
  packed_ = std::make_unique_for_overwrite<std::byte[]>(total);
  std::byte* to = packed_.get();
  for_each_run(bytes, type, total, [&to](const std::byte* from, std::uint64_t run) {
    std::memcpy(to, from, run);
    to += run;
  });
  return portals::Region(packed_.get(), total);
}

portals::Region Pieces::pieces_to_receive(void* buffer, std::int64_t count, Datatype& type) {
  auto* const bytes = static_cast<std::byte*>(buffer);
  const std::uint64_t total = total_bytes(count, type);
  if (total == 0) return {};
  if (tabulate(bytes, count, type)) {
    return table_.size() == 1 ? portals::Region(table_[0]) : portals::Region(std::span<const portals::Buffer>(table_));
  }
  packed_ = std::make_unique_for_overwrite<std::byte[]>(total);
  user_ = bytes;
  type_ = &type;
  ++type.references;
  return portals::Region(packed_.get(), total);
}

void Pieces::fill_from_packed(std::uint64_t bytes) {
  const std::byte* from = packed_.get();
  for_each_run(user_, *type_, bytes, [&from](std::byte* to, std::uint64_t run) {
    std::memcpy(to, from, run);
    from += run;
  });
}

void Pieces::give_up() {
  table_.clear();
  packed_.reset();
  if (type_ != nullptr && --type_->references == 0 && !type_->predefined) delete type_;
  type_ = nullptr;
}

// Whether the table holds all pieces.
bool Pieces::tabulate(std::byte* buffer, std::int64_t count, const Datatype& type) {
  table_.clear();
  for (std::int64_t element = 0; element < count; ++element) {
    std::byte* const base = buffer + element * type.extent;
    for (const TypeBlock& block : type.blocks) {
      if (!add(base + block.offset, block.bytes)) return false;
    }
  }
  return true;
}

bool Pieces::add(std::byte* base, std::uint64_t bytes) {
  if (bytes == 0) return true;
  if (!table_.empty() && table_.back().base + table_.back().bytes == base) {
    table_.back().bytes += bytes;
    return true;
  }
  if (table_.size() == kPiecesMax) {
    table_.clear();
    return false;
  }
  table_.push_back({base, bytes});
  return true;
}

}  // namespace margay::mpi_adi
