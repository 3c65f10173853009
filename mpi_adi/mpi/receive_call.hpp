// What the receive bindings share.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "mpi_adi/mpi/call.hpp"
#include "mpi_adi/mpi/failure_words.hpp"
#include "mpi_adi/mpi/send_call.hpp"

namespace margay::mpi_adi {

// A receive's arguments as the program gave them.
struct ReceiveArguments {
  void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
  int source;
  int tag;
  MPI_Comm communicator;
};

// The same, looked up. After an error some of it is missing.
[[nodiscard]] inline CheckedReceive check_receive(Call& call, const ReceiveArguments& arguments) {
  CheckedReceive checked{arguments.buffer, arguments.count,        nullptr, arguments.source, arguments.tag,
                         nullptr,          Context::point_to_point};
  // Nothing is asked of what was not found, nor after an error.
  checked.communicator = call.communicator(arguments.communicator);
  if (checked.communicator == nullptr) [[unlikely]]
    return checked;
  checked.type = call.datatype(arguments.datatype, arguments.count);
  if (checked.type == nullptr || !call.elements(arguments.count, *checked.type)) [[unlikely]]
    return checked;
  call.address(arguments.buffer, arguments.count, checked.type);
  call.source(checked.communicator, arguments.source);
  call.receive_tag(arguments.tag);
  return checked;
}

// Whole calls.
[[nodiscard, gnu::flatten]] int blocking_receive(const CallName& name, const ReceiveArguments& arguments,
                                                 MPI_Status* status);
[[nodiscard, gnu::flatten]] int nonblocking_receive(const CallName& name, const ReceiveArguments& arguments,
                                                    MPI_Request* request);

// Both at once, neither waiting for the other (MPI 4.0, 3.10).
[[nodiscard]] int send_and_receive(Call& call, const SendArguments& send, const ReceiveArguments& receive,
                                   MPI_Status* status);
// Into the buffer that is sent from.
[[nodiscard]] int send_and_replace(Call& call, const SendArguments& send, const ReceiveArguments& receive,
                                   MPI_Status* status);

// What a complete request says, as a status. Leaves MPI_ERROR alone.
void status_of(const Request& request, MPI_Status* status);
// Takes a complete request's status and error into the call, and gives the request back.
void finish_device_request(Call& call, Request& request, MPI_Status* status);

// The bytes of `count` elements, packed one behind the other.
class TypedCopy {
 public:
  // Requires: `type` lives as long as this.
  TypedCopy(const Datatype& type, const void* buffer, std::int64_t count);
  // Tells the check of types, if it is on, what the next send's bytes are.
  void tell(Call& call) const;
  [[nodiscard]] const void* bytes() const { return bytes_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::unique_ptr<std::byte[]> take() { return std::move(bytes_); }

 private:
  const Datatype& type_;
  std::unique_ptr<std::byte[]> bytes_;
  std::int64_t size_ = 0;
};

}  // namespace margay::mpi_adi
