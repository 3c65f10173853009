#include "libraries/nexus_mpi/matching.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace margay::nexus_mpi {
namespace {

constexpr char kMessage[] = "MPI message";
constexpr char kAnswer[] = "MPI answer";

bool accepts(const Request& request, const Envelope& envelope) {
  return request.communicator == envelope.communicator &&
         (request.source == MPI_ANY_SOURCE || request.source == envelope.source) &&
         (request.tag == MPI_ANY_TAG || request.tag == envelope.tag);
}

// The only named types whose elements have gaps are pairs, whose size differs from the extent.
bool find_plain(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return false;
  if (combiner != MPI_COMBINER_NAMED) return false;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  int size = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_size(type, &size);
  return lower == 0 && extent == size;
}

std::vector<std::byte> pack(const Place& place, MPI_Comm communicator) {
  MPI_Count room = 0;
  PMPI_Pack_size_c(place.count, place.type, communicator, &room);
  std::vector<std::byte> packed(static_cast<std::size_t>(room));
  MPI_Count at = 0;
  PMPI_Pack_c(place.base, place.count, place.type, packed.data(), room, &at, communicator);
  packed.resize(static_cast<std::size_t>(at));
  return packed;
}

// The address of an element.
std::byte* element(const Place& place, MPI_Count index) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  PMPI_Type_get_extent_c(place.type, &lower, &extent);
  return static_cast<std::byte*>(place.base) + index * extent;
}

// Unpacks as many bytes as there are, the last element perhaps in part.
void unpack(const Place& place, std::span<const std::byte> bytes) {
  MPI_Count size = 0;
  PMPI_Type_size_c(place.type, &size);
  if (size == 0 || bytes.empty()) return;
  const auto total = static_cast<MPI_Count>(bytes.size());
  const MPI_Count whole = total / size;
  MPI_Count at = 0;
  if (whole != 0) PMPI_Unpack_c(bytes.data(), total, &at, place.base, whole, place.type, MPI_COMM_SELF);
  const auto rest = static_cast<std::size_t>(total - whole * size);
  if (rest == 0) return;
  // The element keeps the bytes that did not arrive.
  const Place last{element(place, whole), 1, place.type};
  std::vector<std::byte> packed = pack(last, MPI_COMM_SELF);
  std::copy(bytes.end() - static_cast<std::ptrdiff_t>(rest), bytes.end(), packed.begin());
  at = 0;
  PMPI_Unpack_c(packed.data(), size, &at, last.base, 1, place.type, MPI_COMM_SELF);
}

void set_received(Request& request, const Envelope& envelope, std::size_t bytes) {
  request.source = envelope.source;
  request.tag = envelope.tag;
  request.bytes = request.sent_bytes = bytes;
  const auto room = static_cast<std::size_t>(packed_bytes(request.place));
  if (bytes > room) {
    request.bytes = room;
    request.error = MPI_ERR_TRUNCATE;
  }
  request.is_complete = true;
}

// Deletes a request whose handle the user has freed.
void forget(Request& request) {
  finish_request(request);
  if (!request.is_freed) return;
  for (std::size_t i = 0; i < layer->requests.size(); ++i) {
    if (layer->requests[i].get() != &request) continue;
    MPI_Request handle = kFirstRequest + static_cast<int>(i);
    return remove_request(handle);
  }
}

void take_message(nexus::Endpoint& /*endpoint*/, nexus::Buffer& buffer) {
  Message message;
  buffer.get(std::as_writable_bytes(std::span(&message.envelope, 1)));
  message.context = buffer.get<std::int32_t>();
  if (message.context < 0 || message.context >= nexus::contexts())
    nexus::fail("a message of the unknown context " + std::to_string(message.context));
  const auto at =
      std::ranges::find_if(layer->posted, [&message](const Request* each) { return accepts(*each, message.envelope); });
  if (at == layer->posted.end()) {
    message.body = buffer.get<std::vector<std::byte>>();
    layer->unexpected.push_back(std::move(message));
    return;
  }
  Request& request = **at;
  layer->posted.erase(at);
  const std::size_t bytes = buffer.next_count();
  if (is_plain(request.place.type) && static_cast<MPI_Count>(bytes) <= packed_bytes(request.place)) {
    // Into the user's memory.
    buffer.get(std::span(static_cast<std::byte*>(request.place.base), bytes));
    set_received(request, message.envelope, bytes);
    if (message.envelope.answer != 0) layer->answers.push_back({message.context, message.envelope.answer});
    forget(request);
    return;
  }
  message.body = buffer.get<std::vector<std::byte>>();
  complete(request, message);
}

void take_answer(nexus::Endpoint& /*endpoint*/, nexus::Buffer& buffer) {
  const auto number = buffer.get<std::uint64_t>();
  if (number >= layer->requests.size() || layer->requests[number] == nullptr ||
      layer->requests[number]->kind != Request::Kind::send)
    nexus::fail("an answer to the unknown send " + std::to_string(number));
  Request& request = *layer->requests[number];
  request.is_complete = true;
  forget(request);
}

}  // namespace

void register_handlers() {
  nexus::register_handler(kMessage, take_message);
  nexus::register_handler(kAnswer, take_answer);
}

MPI_Count packed_bytes(const Place& place) {
  MPI_Count size = 0;
  if (PMPI_Type_size_c(place.type, &size) != MPI_SUCCESS) return -1;
  return size * place.count;
}

bool is_plain(MPI_Datatype type) {
  thread_local std::unordered_map<MPI_Datatype, bool> named;
  if (type == MPI_BYTE) return true;
  if (const auto at = named.find(type); at != named.end()) return at->second;
  const bool plain = find_plain(type);
  // Handles of derived types may be used again; those of named types are constants.
  if (plain) named[type] = true;
  return plain;
}

void send_message(Communicator& communicator, const char* call, const Place& place, int destination, int tag,
                  std::uint64_t answer) {
  const MPI_Count bytes = packed_bytes(place);
  // A put has at most nexus::kElementsMost bytes.
  if (bytes > static_cast<MPI_Count>(nexus::kElementsMost)) {
    nexus::fail(std::string(call) + ": the message has " + std::to_string(bytes) +
                " bytes, and a request at most 2147483647; send it in parts, or run without --over nexus");
  }
  Envelope envelope;
  envelope.communicator = communicator.number;
  envelope.answer = answer;
  envelope.source = communicator.rank;
  envelope.tag = tag;
  nexus::Buffer buffer;
  buffer.put(std::as_bytes(std::span(&envelope, 1))).put(static_cast<std::int32_t>(nexus::context()));
  if (is_plain(place.type)) {
    buffer.put(std::span(static_cast<const std::byte*>(place.base), static_cast<std::size_t>(bytes)));
  } else {
    buffer.put(pack(place, MPI_COMM_SELF));
  }
  const auto context = static_cast<std::size_t>(communicator.worlds[static_cast<std::size_t>(destination)]);
  nexus::send(layer->links[context], kMessage, buffer).check();
}

std::list<Message>::iterator find_arrived(const Communicator& communicator, int source, int tag) {
  Request wanted;
  wanted.communicator = communicator.number;
  wanted.source = source;
  wanted.tag = tag;
  return std::ranges::find_if(layer->unexpected,
                              [&wanted](const Message& each) { return accepts(wanted, each.envelope); });
}

void post(Request& request) {
  const auto at = std::ranges::find_if(layer->unexpected,
                                       [&request](const Message& each) { return accepts(request, each.envelope); });
  if (at == layer->unexpected.end()) {
    layer->posted.push_back(&request);
    return;
  }
  Message message = std::move(*at);
  layer->unexpected.erase(at);
  complete(request, message);
}

void complete(Request& request, Message& message) {
  set_received(request, message.envelope, message.body.size());
  const std::span<const std::byte> bytes = std::span(message.body).first(request.bytes);
  if (is_plain(request.place.type)) {
    if (!bytes.empty()) std::memcpy(request.place.base, bytes.data(), bytes.size());
  } else {
    unpack(request.place, bytes);
  }
  answer(message);
  forget(request);
}

bool unpost(Request& request) {
  return std::erase(layer->posted, &request) != 0;
}

void answer(const Message& message) {
  if (message.envelope.answer != 0) layer->answers.push_back({message.context, message.envelope.answer});
}

void send_answers() {
  while (!layer->answers.empty()) {
    const Layer::Answer first = layer->answers.front();
    layer->answers.pop_front();
    nexus::Buffer buffer;
    buffer.put(first.request);
    nexus::send(layer->links[static_cast<std::size_t>(first.context)], kAnswer, buffer).check();
  }
}

MPI_Request add_request(std::unique_ptr<Request> request) {
  if (layer->free_requests.empty()) {
    if (layer->requests.empty()) layer->requests.emplace_back();
    if (layer->requests.size() > kRequestsMost)
      nexus::fail("16777215 requests are under way, the maximum; complete some first");
    layer->requests.push_back(std::move(request));
    return kFirstRequest + static_cast<int>(layer->requests.size() - 1);
  }
  const std::uint32_t index = layer->free_requests.back();
  layer->free_requests.pop_back();
  layer->requests[index] = std::move(request);
  return kFirstRequest + static_cast<int>(index);
}

Request* find_request(MPI_Request handle) {
  if (layer == nullptr || handle <= kFirstRequest) return nullptr;
  const auto index = static_cast<std::size_t>(handle - kFirstRequest);
  return index < layer->requests.size() ? layer->requests[index].get() : nullptr;
}

void remove_request(MPI_Request& handle) {
  const auto index = static_cast<std::size_t>(handle - kFirstRequest);
  layer->requests[index].reset();
  layer->free_requests.push_back(static_cast<std::uint32_t>(index));
  handle = MPI_REQUEST_NULL;
}

void finish_request(Request& request) {
  if (!request.owns_type) return;
  request.owns_type = false;
  PMPI_Type_free(&request.place.type);
}

}  // namespace margay::nexus_mpi
