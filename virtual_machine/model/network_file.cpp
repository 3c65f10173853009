#include "virtual_machine/model/network_file.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "virtual_machine/model/machine_fields.hpp"

namespace margay::virtual_machine {
namespace {

using nlohmann::json;
using portals::Status;

constexpr int kFormat = 1;

// Adds channels of a network to a file, with their loads.
class ChannelWriter {
 public:
  ChannelWriter(const LinkLoads& loads, std::uint32_t network, NetworkFile& file)
      : loads_(loads), network_(network), file_(file) {}

  void add(ChannelKind kind, std::uint32_t number, Fabric::Ends ends, bool without_messages) {
    const LinkLoads::Load& load = loads_.load({network_, kind, number});
    if (load.messages == 0 && !without_messages) return;
    const auto channel = static_cast<std::uint32_t>(file_.channels.size());
    file_.channels.push_back({network_, kind, ends.from, ends.to, load.messages, load.most_at_once});
    for (const LinkLoads::Bucket& bucket : load.buckets) file_.loads.push_back({channel, bucket});
  }

 private:
  const LinkLoads& loads_;
  std::uint32_t network_;
  NetworkFile& file_;
};

void add_channels(const NetworkModel& model, const LinkLoads& loads, std::uint32_t network, NetworkFile& file) {
  const Fabric& fabric = model.fabric(network);
  ChannelWriter writer(loads, network, file);
  const bool all = fabric.link_count() <= NetworkFile::kLinksMost;
  for (std::uint32_t link = 0; link < fabric.link_count(); ++link)
    if (fabric.has_link(link)) writer.add(ChannelKind::link, link, fabric.ends_of(link), all);
  for (std::uint32_t node = 0; node < model.nodes(); ++node) {
    writer.add(ChannelKind::injection, node, {node, fabric.switch_of(node)}, false);
    writer.add(ChannelKind::ejection, node, {fabric.switch_of(node), node}, false);
  }
}

// The values of a member of all elements, as a column.
template <typename Element, typename Get>
json column(const std::vector<Element>& elements, Get get) {
  json values = json::array();
  for (const Element& element : elements) values.push_back(get(element));
  return values;
}

// The error of a text that is JSON, but not this file; caught beside nlohmann's own.
struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A whole number that fits into its type. nlohmann's get() would also take a fraction, and cut a larger number.
template <typename Number>
void read_number(const json& value, Number& out) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<Number>::max())
    throw Mismatch("invalid number " + (value.is_number() ? value.dump() : value.type_name()));
  out = value.get<Number>();
}

// Reads a column. `member_of` returns the member of an element; the first column makes the elements.
template <typename Element, typename MemberOf>
void read_column(const json& columns, const char* name, std::vector<Element>& elements, MemberOf member_of) {
  const json& values = columns.at(name);
  if (elements.empty()) elements.resize(values.size());
  if (!values.is_array() || elements.size() != values.size())
    throw Mismatch(std::string(name) + ": not a list of " + std::to_string(elements.size()) + " numbers");
  for (std::size_t i = 0; i < values.size(); ++i) read_number(values[i], member_of(elements[i]));
}

// Whether the numbers in a channel are in range.
bool is_valid(const NetworkFile& file, const NetworkFile::Channel& channel) {
  if (channel.network >= file.networks.size()) return false;
  const std::uint32_t switches = file.networks[channel.network].switches;
  switch (channel.kind) {
    case ChannelKind::link:
      return channel.from < switches && channel.to < switches;
    case ChannelKind::injection:
      return channel.from < file.nodes && channel.to < switches;
    case ChannelKind::ejection:
      return channel.from < switches && channel.to < file.nodes;
  }
  return false;
}

bool is_valid(const NetworkFile& file) {
  return file.bucket_ns != 0 &&
         std::all_of(file.channels.begin(), file.channels.end(),
                     [&](const auto& one) { return is_valid(file, one); }) &&
         std::all_of(file.loads.begin(), file.loads.end(), [&](const NetworkFile::Load& load) {
           return load.channel < file.channels.size() && load.bucket.number < LinkLoads::kBuckets;
         });
}

void read_networks(const json& networks, NetworkFile& out) {
  for (const json& one : networks) {
    NetworkFile::Net net;
    one.at("name").get_to(net.name);
    one.at("topology").get_to(net.topology);
    for (const json& extent : one.at("shape")) read_number(extent, net.shape.emplace_back());
    read_number(one.at("dimensions"), net.dimensions);
    read_number(one.at("switches"), net.switches);
    read_number(one.at("nodes_per_switch"), net.nodes_per_switch);
    out.networks.push_back(std::move(net));
  }
}

void read_channels(const json& columns, NetworkFile& out) {
  using Row = NetworkFile::Channel;
  read_column(
      columns, "network", out.channels, [](Row & row) -> auto& { return row.network; });
  std::vector<std::uint8_t> kinds;
  read_column(
      columns, "kind", kinds, [](std::uint8_t & kind) -> auto& { return kind; });
  if (kinds.size() != out.channels.size()) throw Mismatch("kind: another length");
  // An invalid number is of no kind, as is_valid() finds.
  for (std::size_t i = 0; i < kinds.size(); ++i) out.channels[i].kind = static_cast<ChannelKind>(kinds[i]);
  read_column(
      columns, "from", out.channels, [](Row & row) -> auto& { return row.from; });
  read_column(
      columns, "to", out.channels, [](Row & row) -> auto& { return row.to; });
  read_column(
      columns, "messages", out.channels, [](Row & row) -> auto& { return row.messages; });
  read_column(
      columns, "most_at_once", out.channels, [](Row & row) -> auto& { return row.most_at_once; });
}

void read_loads(const json& columns, NetworkFile& out) {
  using Row = NetworkFile::Load;
  read_column(
      columns, "channel", out.loads, [](Row & row) -> auto& { return row.channel; });
  read_column(
      columns, "bucket", out.loads, [](Row & row) -> auto& { return row.bucket.number; });
  read_column(
      columns, "bytes", out.loads, [](Row & row) -> auto& { return row.bucket.bytes; });
  read_column(
      columns, "busy_ns", out.loads, [](Row & row) -> auto& { return row.bucket.busy_ns; });
  read_column(
      columns, "blocked_ns", out.loads, [](Row & row) -> auto& { return row.bucket.blocked_ns; });
}

}  // namespace

NetworkFile network_file_of(const NetworkModel& model, const LinkLoads& loads) {
  NetworkFile file;
  file.machine = model.machine().name;
  file.nodes = model.nodes();
  file.begin_ns = loads.begin_ns();
  file.bucket_ns = loads.bucket_ns();
  for (std::uint32_t number = 0; number < model.machine().networks.size(); ++number) {
    const Network& network = model.machine().networks[number];
    const Fabric& fabric = model.fabric(number);
    file.networks.push_back({network.name, std::string(name_of(network.topology)), fabric.shape(), fabric.dimensions(),
                             fabric.switch_count(), fabric.nodes_per_switch()});
    if (model.is_in_use(number)) add_channels(model, loads, number, file);
  }
  return file;
}

std::string format_network_file(const NetworkFile& file) {
  json networks = json::array();
  for (const NetworkFile::Net& net : file.networks) {
    networks.push_back({{"name", net.name},
                        {"topology", net.topology},
                        {"shape", net.shape},
                        {"dimensions", net.dimensions},
                        {"switches", net.switches},
                        {"nodes_per_switch", net.nodes_per_switch}});
  }
  const json channels = {
      {"network", column(file.channels, [](const NetworkFile::Channel& one) { return one.network; })},
      {"kind", column(file.channels, [](const NetworkFile::Channel& one) { return static_cast<int>(one.kind); })},
      {"from", column(file.channels, [](const NetworkFile::Channel& one) { return one.from; })},
      {"to", column(file.channels, [](const NetworkFile::Channel& one) { return one.to; })},
      {"messages", column(file.channels, [](const NetworkFile::Channel& one) { return one.messages; })},
      {"most_at_once", column(file.channels, [](const NetworkFile::Channel& one) { return one.most_at_once; })}};
  const json loads = {
      {"channel", column(file.loads, [](const NetworkFile::Load& one) { return one.channel; })},
      {"bucket", column(file.loads, [](const NetworkFile::Load& one) { return one.bucket.number; })},
      {"bytes", column(file.loads, [](const NetworkFile::Load& one) { return one.bucket.bytes; })},
      {"busy_ns", column(file.loads, [](const NetworkFile::Load& one) { return one.bucket.busy_ns; })},
      {"blocked_ns", column(file.loads, [](const NetworkFile::Load& one) { return one.bucket.blocked_ns; })}};
  const json whole = {
      {"format", kFormat},           {"machine", file.machine}, {"nodes", file.nodes},  {"begin_ns", file.begin_ns},
      {"bucket_ns", file.bucket_ns}, {"networks", networks},    {"channels", channels}, {"loads", loads}};
  return whole.dump(-1, ' ', true, json::error_handler_t::replace);
}

Status parse_network_file(std::string_view text, NetworkFile& out) {
  out = {};
  const auto failure = [](const std::string& why) {
    return Status::error("not the network of a simulated run: " + why);
  };
  const json whole = json::parse(text, nullptr, false);
  try {
    int format = 0;
    read_number(whole.at("format"), format);
    if (format != kFormat)
      return failure("format " + std::to_string(format) + "; this margay reads " + std::to_string(kFormat));
    whole.at("machine").get_to(out.machine);
    read_number(whole.at("nodes"), out.nodes);
    read_number(whole.at("begin_ns"), out.begin_ns);
    read_number(whole.at("bucket_ns"), out.bucket_ns);
    read_networks(whole.at("networks"), out);
    read_channels(whole.at("channels"), out);
    read_loads(whole.at("loads"), out);
  } catch (const json::exception& exception) {
    return failure(exception.what());
  } catch (const Mismatch& mismatch) {
    return failure(mismatch.what());
  }
  return is_valid(out) ? Status{} : failure("a number is out of range");
}

}  // namespace margay::virtual_machine
