#include "libraries/nexus/table.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

namespace margay::nexus::core {
namespace {

constexpr std::uint8_t kFormat = 1;
enum Demand : std::uint8_t { kOrdered = 1, kReliable = 2, kSecure = 4, kBulk = 8 };

template <typename Number>
void put(std::vector<std::byte>& out, Number number) {
  const std::size_t at = out.size();
  out.resize(at + sizeof number);
  std::memcpy(out.data() + at, &number, sizeof number);
}
void put_name(std::vector<std::byte>& out, std::string_view name) {
  put(out, static_cast<std::uint8_t>(name.size()));
  for (const char each : name) out.push_back(static_cast<std::byte>(each));
}

// A position in bytes. After the first read past their end, all reads return zeros, and `bad` has the reason.
class Reader {
 public:
  explicit Reader(std::span<const std::byte>& bytes) : bytes_(bytes) {}
  template <typename Number>
  [[nodiscard]] Number number(const char* what) {
    Number value{};
    const std::span<const std::byte> taken = take(sizeof value, what);
    if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::span<const std::byte> take(std::size_t count, const char* what) {
    if (!bad.empty()) return {};
    if (count > bytes_.size()) {
      refuse(std::string("its ") + what + " is cut off");
      return {};
    }
    const std::span<const std::byte> taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  [[nodiscard]] std::string method(const char* what, bool may_be_empty = false) {
    const std::span<const std::byte> taken = take(number<std::uint8_t>(what), what);
    std::string name(reinterpret_cast<const char*>(taken.data()), taken.size());
    if (name.empty() && may_be_empty) return name;
    if (!valid_name(name)) refuse(std::string("invalid ") + what);
    return name;
  }
  void refuse(const std::string& why) {
    if (bad.empty()) bad = why;
  }
  std::string bad;

 private:
  std::span<const std::byte>& bytes_;
};

void read_table(Reader& reader, std::uint32_t contexts, Table& out) {
  out.clear();
  const auto rows = reader.number<std::uint8_t>("number of methods");
  if (rows > kRowsMost) return reader.refuse(std::to_string(rows) + " methods");
  for (std::uint8_t i = 0; i < rows && reader.bad.empty(); ++i) {
    Row row;
    row.method = reader.method("method");
    const auto bytes = reader.number<std::uint16_t>("descriptor");
    if (bytes > MARGAY_NEXUS_DESCRIPTOR_MOST) return reader.refuse("a descriptor of " + std::to_string(bytes) + " bytes");
    const std::span<const std::byte> descriptor = reader.take(bytes, "descriptor");
    row.descriptor.assign(descriptor.begin(), descriptor.end());
    row.forwarder = reader.number<std::uint32_t>("forwarder");
    if (row.forwarder != kNoContext && row.forwarder >= contexts)
      reader.refuse("forwarder " + std::to_string(row.forwarder) + " is not a context");
    if (std::ranges::any_of(out, [&](const Row& each) { return each.method == row.method; }))
      reader.refuse("method " + row.method + " is there twice");
    out.push_back(std::move(row));
  }
}

void read_choices(Reader& reader, std::uint32_t contexts, LinkData& link) {
  link.forced = reader.method("forced method", true);
  const auto transforms = reader.number<std::uint8_t>("number of transforms");
  if (transforms > kTransformsMost) return reader.refuse(std::to_string(transforms) + " transforms");
  for (std::uint8_t i = 0; i < transforms; ++i) link.transforms.push_back(reader.method("transform"));
  const auto demands = reader.number<std::uint8_t>("demands");
  if (demands > (kOrdered | kReliable | kSecure | kBulk)) reader.refuse("unknown demands");
  link.quality.ordered = (demands & kOrdered) != 0;
  link.quality.reliable = (demands & kReliable) != 0;
  link.quality.secure = (demands & kSecure) != 0;
  link.quality.bulk = (demands & kBulk) != 0;
  link.quality.latency_most_ns = reader.number<std::uint32_t>("demands");
  link.quality.bytes_per_second = reader.number<std::uint64_t>("demands");
  Table table;
  read_table(reader, contexts, table);
  if (table.empty()) reader.refuse("it has no methods");
  link.table = std::make_shared<const Table>(std::move(table));
}

}  // namespace

bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= MARGAY_NEXUS_NAME_MOST && std::ranges::all_of(name, [](char each) {
           return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_' || each == '-';
         });
}

void encode(const Table& table, std::vector<std::byte>& out) {
  put(out, static_cast<std::uint8_t>(table.size()));
  for (const Row& row : table) {
    put_name(out, row.method);
    put(out, static_cast<std::uint16_t>(row.descriptor.size()));
    out.insert(out.end(), row.descriptor.begin(), row.descriptor.end());
    put(out, row.forwarder);
  }
}

portals::Status decode(std::span<const std::byte>& bytes, std::uint32_t contexts, Table& out) {
  Reader reader(bytes);
  read_table(reader, contexts, out);
  if (!reader.bad.empty()) return portals::Status::error("damaged table of methods: " + reader.bad);
  return {};
}

void encode(std::span<const LinkData* const> links, bool light, std::vector<std::byte>& out) {
  put(out, kFormat);
  put(out, static_cast<std::uint8_t>(light ? 1 : 0));
  put(out, static_cast<std::uint16_t>(links.size()));
  for (const LinkData* link : links) {
    put(out, link->context);
    put(out, link->endpoint);
    put(out, link->generation);
    out.resize(out.size() + 6);
    if (light) continue;
    put_name(out, link->forced);
    put(out, static_cast<std::uint8_t>(link->transforms.size()));
    for (const std::string& each : link->transforms) put_name(out, each);
    const Quality& quality = link->quality;
    put(out, static_cast<std::uint8_t>((quality.ordered ? kOrdered : 0) | (quality.reliable ? kReliable : 0) |
                                       (quality.secure ? kSecure : 0) | (quality.bulk ? kBulk : 0)));
    put(out, quality.latency_most_ns);
    put(out, quality.bytes_per_second);
    encode(*link->table, out);
  }
}

portals::Status decode(std::span<const std::byte> bytes, std::uint32_t contexts, bool& light, std::vector<LinkData>& out) {
  Reader reader(bytes);
  out.clear();
  if (reader.number<std::uint8_t>("format") != kFormat) reader.refuse("unknown format");
  const auto is_light = reader.number<std::uint8_t>("kind");
  if (is_light > 1) reader.refuse("unknown kind");
  light = is_light == 1;
  const auto links = reader.number<std::uint16_t>("number of links");
  if (links == 0 || links > kLinksMost) reader.refuse(std::to_string(links) + " links");
  for (std::uint16_t i = 0; i < links && reader.bad.empty(); ++i) {
    LinkData link;
    link.context = reader.number<std::uint32_t>("context");
    link.endpoint = reader.number<std::uint32_t>("endpoint");
    link.generation = reader.number<std::uint16_t>("endpoint");
    if (std::ranges::any_of(reader.take(6, "endpoint"), [](std::byte each) { return each != std::byte{0}; }))
      reader.refuse("bytes after the endpoint are not zero");
    if (link.context >= contexts) reader.refuse("context " + std::to_string(link.context));
    if (link.endpoint == kControlEndpoint || link.endpoint > kEndpointsMost)
      reader.refuse("endpoint " + std::to_string(link.endpoint));
    if (!light) read_choices(reader, contexts, link);
    out.push_back(std::move(link));
  }
  if (reader.bad.empty() && !bytes.empty()) reader.refuse(std::to_string(bytes.size()) + " bytes too many");
  if (!reader.bad.empty()) return portals::Status::error("damaged startpoint: " + reader.bad);
  return {};
}

}  // namespace margay::nexus::core
