#include "mpi_adi/device/type_check.hpp"

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/board.hpp"

namespace margay::mpi_adi {

namespace {

// A call's number on the wire is its index; at most 16 fit. Large-count functions (_c) have the numbers of the others.
constexpr std::array<std::string_view, 16> kCalls{"",
                                                  "another call",
                                                  "MPI_Send",
                                                  "MPI_Isend",
                                                  "MPI_Ssend",
                                                  "MPI_Issend",
                                                  "MPI_Rsend",
                                                  "MPI_Irsend",
                                                  "MPI_Bsend",
                                                  "MPI_Ibsend",
                                                  "MPI_Sendrecv",
                                                  "MPI_Isendrecv",
                                                  "MPI_Sendrecv_replace",
                                                  "MPI_Isendrecv_replace",
                                                  "MPI_Start",
                                                  "MPI_Startall"};
constexpr unsigned kCallMask = 15;
constexpr unsigned kKindShift = 4;

std::uint8_t number_of_call(std::string_view name) {
  if (name.ends_with("_c")) name.remove_suffix(2);
  // 0 means no call, 1 a function that is not in the table.
  for (std::size_t i = 2; i < kCalls.size(); ++i) {
    if (kCalls[i] == name) return static_cast<std::uint8_t>(i);
  }
  return 1;
}

}  // namespace

void write_sent_side(portals::UserData& data, const SentSide& side) {
  const Signature& signature = side.signature;
  const unsigned code = signature.kind == Signature::Kind::uniform ? basic_index(signature.leaf) : signature.hash;
  data[1] = static_cast<std::byte>(side.call | static_cast<unsigned>(signature.kind) << kKindShift);
  data[2] = static_cast<std::byte>(code & 0xffU);
  data[3] = static_cast<std::byte>(code >> 8U);
}

SentSide read_sent_side(const portals::UserData& data) {
  const auto first = static_cast<unsigned>(data[1]);
  // The note comes from a wire: masks keep every number in the range of its table.
  const unsigned code = static_cast<unsigned>(data[2]) | static_cast<unsigned>(data[3]) << 8U;
  SentSide side;
  side.call = static_cast<std::uint8_t>(first & kCallMask);
  side.signature.kind = static_cast<Signature::Kind>((first >> kKindShift) & 3U);
  if (side.signature.kind == Signature::Kind::uniform) {
    side.signature.leaf = basic_type_of_index(code);
  } else {
    side.signature.hash = static_cast<std::uint16_t>(code);
  }
  return side;
}

std::string sent_side_text(const portals::Header& header) {
  const SentSide side = read_sent_side(header.user_data);
  if (side.call == 0) return {};
  return elements_text(side.signature, message_bytes(header)) + " by " + std::string(kCalls[side.call % kCalls.size()]);
}

void TypeCheck::begin_send(const Datatype& type, std::uint64_t bytes, bool own) {
  outgoing_ = {};
  if (own || type.definition == nullptr) return;
  outgoing_ = {number_of_call(call_), signature_of(*type.definition, bytes)};
}

void TypeCheck::begin_receive(const ReceiveRequest& request, const Datatype& type, std::int64_t count, bool own) {
  // A pooled request may still have an entry from its last use, if that ended with an error.
  receives_.erase(&request);
  if (own || type.definition == nullptr) return;
  Receive& receive = receives_[&request];
  receive.call = call_;
  receive.caller = caller_;
  receive.count = count;
  receive.type = type.definition;
  receive.type_name = type.name;
}

void TypeCheck::record_message(const ReceiveRequest& request, const portals::Header& header) {
  const auto found = receives_.find(&request);
  if (found == receives_.end()) return;
  found->second.came = true;
  found->second.sent = read_sent_side(header.user_data);
  found->second.bytes = message_bytes(header);
}

void TypeCheck::end_receive(const ReceiveRequest& request) {
  const auto found = receives_.find(&request);
  if (found == receives_.end()) return;
  Receive& receive = found->second;
  // A message that went straight into the buffer still has its header in the row.
  if (!receive.came) record_message(request, request.row[0].header);
  // Empty messages fit every receive.
  const bool is_described = receive.sent.call != 0 && receive.bytes != 0;
  const bool fits = !request.truncated && signature_of(*receive.type, receive.bytes).fits(receive.sent.signature);
  if (is_described && !fits) report(request, receive);
  receives_.erase(found);
}

void TypeCheck::nonportable(const std::string& what, const char* where) {
  // Printed once for each call and use; otherwise a loop would print a line in every iteration.
  if (!nonportable_.insert(std::string(call_) + what).second) return;
  const std::string site = lines_.location_suffix(caller_);
  const std::string message =
      call_ + site + ": " + what + " is not portable: the standard does not define it (MPI 4.0, " + where + ")";
  sim::FindingRecord record;
  sim::set_name(record.call, call_);
  sim::set_site(record, site);
  findings_.add(sim::Finding::nonportable_type, record, message);
  std::fprintf(stderr, "margay: rank %u: %s%s\n", rank_, message.c_str(),
               id_suffix(sim::Finding::nonportable_type).c_str());
}

void TypeCheck::report(const ReceiveRequest& request, const Receive& receive) {
  // Later misfits are counted, but neither printed nor recorded.
  if (++misfits_ > kLinesMax) return findings_.count(1);
  const std::uint64_t room = static_cast<std::uint64_t>(receive.count) * receive.type->size;
  const std::string type = !receive.type_name.empty()
                               ? std::to_string(receive.count) + " x " + receive.type_name
                               : std::to_string(receive.count) + " x a derived type (" +
                                     elements_text(signature_of(*receive.type, room), room) + ")";
  const std::string site = lines_.location_suffix(receive.caller);
  const std::string communicator = communicator_text(*request.communicator);
  std::string message = std::string(receive.call) + site + " of " + type + " (" + std::to_string(room) + " bytes) " +
                        (request.truncated ? "is too small for the message" : "does not match the message") +
                        ": rank " + std::to_string(request.source) + " sent " +
                        elements_text(receive.sent.signature, receive.bytes) + " (" + std::to_string(receive.bytes) +
                        " bytes) by ";
  message.append(kCalls[receive.sent.call % kCalls.size()]);
  message += ", tag " + std::to_string(request.tag) + ", " + communicator;
  sim::FindingRecord record;
  record.peer = request.source;
  record.tag = request.tag;
  record.bytes = receive.bytes;
  sim::set_name(record.call, receive.call);
  sim::set_site(record, site);
  sim::set_text(record.communicator, communicator);
  findings_.add(sim::Finding::type_mismatch, record, message);
  std::fprintf(stderr, "margay: rank %u: %s%s%s\n", rank_, sim::one_line(message).c_str(),
               misfits_ == kLinesMax ? " (the last one that is printed)" : "",
               id_suffix(sim::Finding::type_mismatch).c_str());
}

}  // namespace margay::mpi_adi
