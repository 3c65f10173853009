#include "mpi_adi/device/pieces.hpp"

namespace margay::mpi_adi {

portals::Region Pieces::laid_out(void* buffer, std::int64_t count, const Datatype& type) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * type.size;
  if (bytes == 0) return {};
  const portals::Region region(*type.definition->in_a_row, static_cast<std::byte*>(buffer), bytes);
  // A layout that is one run needs no reference. The second test avoids counting a reference when the previous region
  // had the same type.
  if (!region.contiguous() && held_ != type.definition) held_ = type.definition;
  return region;
}

}  // namespace margay::mpi_adi
