// A rank's objects by handle: what the program holds of each sort, and what predefined handles name. (Its two worlds,
// which have handles only between MPI_Init and MPI_Finalize, are in mpi_adi/rank/worlds.)
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

namespace margay::mpi_adi {

class Origins;  // mpi_adi/rank/origins
struct Window;  // mpi_adi/rma/window.hpp

class Handles {
 public:
  // Both outlive it. `world`: whose handler is asked about a request of no communicator.
  Handles(Device& device, Communicator& world);
  ~Handles();  // whatever the program still holds goes
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  // By handle; nullptr when there is no such living object.
  [[nodiscard]] Communicator* communicator(MPI_Comm handle) { return communicators_.find(handle); }
  [[nodiscard]] Datatype* datatype(MPI_Datatype handle) {
    Datatype* const predefined = predefined_types_.find(handle);
    return predefined != nullptr ? predefined : datatypes_.find(handle);
  }
  [[nodiscard]] UserRequest* request(MPI_Request handle) { return requests_.find(handle); }
  // Of any send that was over when it began, as with MPICH: nothing has to be kept for it, nor given back.
  [[nodiscard]] MPI_Request sent_request() const { return sent_request_.handle; }
  [[nodiscard]] HandleTable<Datatype>& datatypes() { return datatypes_; }
  [[nodiscard]] HandleTable<Message>& messages() { return messages_; }
  // What MPI_Op_create made; of each the table is the owner's.
  [[nodiscard]] HandleTable<Operation>& operations() { return operations_; }
  [[nodiscard]] GroupTable& groups() { return groups_; }
  [[nodiscard]] HandleTable<Window>& windows() { return windows_; }

  // New objects, with a handle. nullptr: the table is full.
  // `remote`: the other group of an intercommunicator. Its contexts come by Worlds::set_context(); until then,
  // kNoContext.
  [[nodiscard]] Communicator* add_communicator(GroupPtr group, GroupPtr remote, const ErrorHandlerPtr& handler);
  [[nodiscard]] Datatype* add_datatype(Datatype&& type);
  [[nodiscard]] UserRequest* add_request(Request* device, Communicator& communicator) {
    if (free_requests_ == nullptr) [[unlikely]]
      make_request();
    UserRequest* const request = free_requests_;
    const Handle handle = requests_.add(*request);
    if (handle == 0) [[unlikely]]
      return nullptr;
    free_requests_ = request->next_free;
    request->persistent = false;  // and with it `call` says nothing
    request->sent = false;
    request->handle = handle;
    request->device = device;
    request->communicator = &communicator;
    return request;
  }

  // The handle goes; the object too, once nothing refers to it. Of a communicator only the handle: MpiRank's.
  void remove(const Communicator& communicator) { communicators_.remove(communicator.handle); }
  void free_datatype(Datatype& type);
  void free_request(UserRequest& request);
  // A reference to a type is over.
  static void release(Datatype& type);

  // Living objects, for the list of what was never given back.
  [[nodiscard]] std::vector<Communicator*> living_communicators() const { return communicators_.alive(); }
  [[nodiscard]] std::vector<Datatype*> living_datatypes() const { return datatypes_.alive(); }
  [[nodiscard]] std::vector<UserRequest*> living_requests() const { return requests_.alive(); }
  // Those that the program holds and that came from this session.
  [[nodiscard]] std::vector<Communicator*> communicators_of(std::uint32_t session) const;
  // Types made for Fortran's kinds (MPI_Type_create_f90_real and its kin), kept until the end.
  [[nodiscard]] std::vector<Datatype*>& kind_types() { return kind_types_; }

  // From now on it is noted who makes what (MARGAY_LEAKS).
  void keep_origins();
  // nullptr, unless they are kept.
  [[nodiscard]] Origins* origins() { return origins_.get(); }
  void note_origin(Handle handle) {
    if (origins_ != nullptr) [[unlikely]]
      note_in_origins(handle);
  }
  // With origins: from now on the next request is made the long way round, which notes who makes it. So the short way
  // needs not ask.
  void hide_free_requests();

 private:
  [[gnu::noinline]] void note_in_origins(Handle handle);
  // Another free request, a hidden or a new one.
  [[gnu::noinline]] void make_request();

  Device& device_;
  PredefinedTypes predefined_types_;
  HandleTable<Communicator> communicators_{ObjectType::communicator};
  HandleTable<Datatype> datatypes_{ObjectType::datatype, kPairTypeCount};
  HandleTable<UserRequest> requests_{ObjectType::request, 1};
  UserRequest* free_requests_ = nullptr;
  std::unique_ptr<Origins> origins_;
  UserRequest sent_request_;
  HandleTable<Message> messages_{ObjectType::request};
  HandleTable<Operation> operations_{ObjectType::op};
  GroupTable groups_;
  HandleTable<Window> windows_{ObjectType::window};
  std::vector<Datatype*> kind_types_;
  std::vector<std::unique_ptr<UserRequest>> request_pool_;
  UserRequest* hidden_requests_ = nullptr;  // free as well
};

}  // namespace margay::mpi_adi
