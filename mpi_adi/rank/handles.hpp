// A rank's tables from handles to objects, both created by the program and predefined. Exception: MPI_COMM_WORLD and
// MPI_COMM_SELF are in mpi_adi/rank/worlds, because their handles are valid only between MPI_Init and MPI_Finalize.
#pragma once

#include <memory>
#include <vector>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/group.hpp"
#include "mpi_adi/object/handle_table.hpp"
#include "mpi_adi/object/user_functions.hpp"
#include "mpi_adi/progress/device.hpp"
#include "mpi_adi/rank/user_request.hpp"

namespace margay::sim {
class Guests;  // sim/machine/guests
}  // namespace margay::sim

namespace margay::mpi_adi {

class Origins;  // mpi_adi/rank/origins
struct Window;  // mpi_adi/rma/window.hpp

// The tables of handles of one rank. Under the process lock. A look-up costs an index and a test; the table detects a
// stale handle by the generation that the handle carries (mpi_adi/object/handle_table).
class Handles {
 public:
  // Both must outlive this object. `world`: its error handler serves the common request of completed sends.
  Handles(Device& device, Communicator& world);
  ~Handles();  // deletes the objects that the program still holds
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  // Objects by handle; nullptr when the handle names no living object.
  [[nodiscard]] Communicator* communicator(MPI_Comm handle) { return communicators_.find(handle); }
  [[nodiscard]] Datatype* datatype(MPI_Datatype handle) {
    // Predefined types are searched first, because most messages use them.
    Datatype* const predefined = predefined_types_.find(handle);
    return predefined != nullptr ? predefined : datatypes_.find(handle);
  }
  [[nodiscard]] UserRequest* request(MPI_Request handle) { return requests_.find(handle); }
  // The common handle of all sends that were complete at their start, as in MPICH. Such sends need no object, and the
  // handle is never freed. While origins are kept, each send has a handle of its own instead.
  [[nodiscard]] MPI_Request sent_request() const { return sent_request_.handle; }
  // Derived types only; datatype() also finds predefined types.
  [[nodiscard]] HandleTable<Datatype>& datatypes() { return datatypes_; }
  // Messages that a matched probe took off the heap and no MPI_Mrecv has received (MPI_Message). The device owns them.
  [[nodiscard]] HandleTable<Message>& messages() { return messages_; }
  // Operations of MPI_Op_create. MPI_Op_free deletes an operation; the destructor deletes the remaining ones.
  [[nodiscard]] HandleTable<Operation>& operations() { return operations_; }
  // A predefined group (MPI_GROUP_EMPTY) is found here too.
  [[nodiscard]] GroupTable& groups() { return groups_; }
  // The table does not own its windows; collectives/comm/window makes and deletes them.
  [[nodiscard]] HandleTable<Window>& windows() { return windows_; }

  // Communicators may have processes of other jobs as members from now on. `guests` outlives this object.
  void admit(const sim::Guests& guests) { guests_ = &guests; }

  // The three add functions make an object with a handle. They return nullptr if the table is full; the binding then
  // raises an error that names the limit.
  // A communicator has context kNoContext until Worlds::set_context(). `remote`: the other group of an
  // intercommunicator, or nullptr.
  [[nodiscard]] Communicator* add_communicator(GroupPtr group, GroupPtr remote, const ErrorHandlerPtr& handler);
  // The caller's reference is the first one; free_datatype() drops it.
  [[nodiscard]] Datatype* add_datatype(Datatype&& type);
  // Takes a request from the free list. On the path of each non-blocking call, so it sets only the fields that a reader
  // may read. `communicator`: the communicator whose error handler is called.
  [[nodiscard]] UserRequest* add_request(Request* device, Communicator& communicator) {
    if (free_requests_ == nullptr) [[unlikely]]
      make_request();
    UserRequest* const request = free_requests_;
    const Handle handle = requests_.add(*request);
    if (handle == 0) [[unlikely]]
      return nullptr;
    free_requests_ = request->next_free;
    request->persistent = false;  // makes `call` meaningless
    request->sent = false;
    request->handle = handle;
    request->device = device;
    request->communicator = &communicator;
    return request;
  }

  // Free a handle. The object is deleted with its last reference; a communicator is deleted by MpiRank.
  void remove(const Communicator& communicator) { communicators_.remove(communicator.handle); }
  // Drops the program's reference. A type that messages or other types still use lives on without a handle (MPI 4.0,
  // 5.1.9).
  void free_datatype(Datatype& type);
  // Returns the request to the free list, and drops the request's own references: a persistent request has references
  // to its communicator and its type, a completed send to its communicator. The device's request is not freed.
  void free_request(UserRequest& request);
  // Drops a reference to a type, and deletes a derived type with its last reference.
  static void release(Datatype& type);

  // Living objects, for the list of objects that the program never freed.
  [[nodiscard]] std::vector<Communicator*> living_communicators() const { return communicators_.alive(); }
  [[nodiscard]] std::vector<Datatype*> living_datatypes() const { return datatypes_.alive(); }
  [[nodiscard]] std::vector<UserRequest*> living_requests() const { return requests_.alive(); }
  // The communicators of this session that the program holds.
  [[nodiscard]] std::vector<Communicator*> communicators_of(std::uint32_t session) const;
  // Types for Fortran's kinds (MPI_Type_create_f90_real and similar functions), kept until the end.
  [[nodiscard]] std::vector<Datatype*>& kind_types() { return kind_types_; }

  // Records the maker of each object from now on (MARGAY_LEAKS).
  void keep_origins();
  // nullptr unless origins are kept.
  [[nodiscard]] Origins* origins() { return origins_.get(); }
  // Records the calling function as the maker of the handle, if origins are kept.
  void record_origin(Handle handle) {
    if (origins_ != nullptr) [[unlikely]]
      record_in_origins(handle);
  }
  // With origins: empties the free list, so that the next add_request() takes the slow path, which records the maker.
  // So the fast path needs no test for origins.
  void hide_free_requests();

 private:
  // Out of line, so that a run without MARGAY_LEAKS pays one test only.
  [[gnu::noinline]] void record_in_origins(Handle handle);
  // Puts one request on the free list, a hidden or a new one.
  [[gnu::noinline]] void make_request();

  Device& device_;
  // nullptr: all members of communicators belong to this job.
  const sim::Guests* guests_ = nullptr;
  PredefinedTypes predefined_types_;
  HandleTable<Communicator> communicators_{ObjectType::communicator};
  // The first slots are reserved for the ABI's pair types.
  HandleTable<Datatype> datatypes_{ObjectType::datatype, kPairTypeCount};
  // Slot 0 is the handle of completed sends (sent_request()).
  HandleTable<UserRequest> requests_{ObjectType::request, 1};
  // Linked by next_free.
  UserRequest* free_requests_ = nullptr;
  std::unique_ptr<Origins> origins_;
  // The request of completed sends (sent_request()); never on the free list.
  UserRequest sent_request_;
  HandleTable<Message> messages_{ObjectType::request};
  HandleTable<Operation> operations_{ObjectType::op};
  GroupTable groups_;
  HandleTable<Window> windows_{ObjectType::window};
  std::vector<Datatype*> kind_types_;
  // Owns all user requests, which are reused and never freed before the end.
  std::vector<std::unique_ptr<UserRequest>> request_pool_;
  UserRequest* hidden_requests_ = nullptr;  // free requests that add_request() does not see
};

}  // namespace margay::mpi_adi
