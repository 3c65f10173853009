// Everything MPI that one rank owns, reached by one thread-local pointer: no other mutable state is global, so that
// many ranks may live in one process.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/context_pool.hpp"
#include "mpi_adi/object/error_class.hpp"
#include "mpi_adi/object/group_table.hpp"
#include "mpi_adi/object/handle_table.hpp"
#include "mpi_adi/object/operation.hpp"
#include "mpi_adi/progress/device.hpp"
#include "mpi_adi/protocol/buffered.hpp"
#include "mpi_adi/rank/call_trace.hpp"
#include "mpi_adi/rank/current.hpp"
#include "mpi_adi/rank/object_tables.hpp"
#include "mpi_adi/rank/origins.hpp"
#include "mpi_adi/rank/user_request.hpp"
#include "mpi_adi/rank/wait_room.hpp"
#include "portals/base/status.hpp"
#include "sim/base/thread_end.hpp"
#include "sim/machine/process.hpp"
#include "sim/shm/published.hpp"
#include "sim/shm/thread_lock.hpp"

namespace margay::mpi_adi {

// What a layer above keeps with the rank (its portals, its pools); it goes before the device does.
struct RankExtension {
  RankExtension() = default;
  RankExtension(const RankExtension&) = delete;
  RankExtension& operator=(const RankExtension&) = delete;
  virtual ~RankExtension() = default;
  // Messages and bytes that it sent.
  [[nodiscard]] virtual const sim::WireCounts& sent() const = 0;
  // A communicator's contexts are about to be given back: nothing that came for it is wanted any more.
  virtual void forget_messages(const Communicator& communicator) = 0;
};

struct ReceivingSide;  // mpi_adi/rank/unreceived

class MpiRank {
 public:
  // In a process that has joined its job: it works, and the program has no communicator yet. `make_extension` runs
  // before the first message can arrive.
  using MakeExtension = std::unique_ptr<RankExtension> (*)(MpiRank&);
  [[nodiscard]] static portals::Status start_on(std::unique_ptr<sim::Process> process, MakeExtension make_extension,
                                                std::unique_ptr<MpiRank>& out);
  ~MpiRank();

  // From MPI_Init to MPI_Finalize: the program has MPI_COMM_WORLD and MPI_COMM_SELF. The calling thread is the main
  // one.
  void begin_world(int thread_level);
  void end_world();
  // Several threads call at once from now on. Requires: outside; another thread may be inside, and wait there.
  void allow_threads();
  // Nobody in this process uses MPI: wires are drained, accounts and trace are whole, the launcher is told. Requires:
  // inside. stop_coprocessor() is the caller's, outside.
  void rest();
  // It is used, the first time or again. Requires: outside, by one thread.
  void work();

  MpiRank(const MpiRank&) = delete;
  MpiRank& operator=(const MpiRank&) = delete;

  // The process lock. With several threads their lock comes first, and its holder is the owner.
  void enter() {
    if (threaded()) {
      if (!detail::thread_noted) [[unlikely]]
        note_thread();
      mutex_.lock();
      if (threads_.get() != Threads::many) [[unlikely]]
        return enter_beside_lone_thread();
    }
    process_->lock().owner_enter();
  }
  // False: another call is inside, perhaps of this very thread, which a signal interrupted, or it is not this thread's.
  [[nodiscard]] bool try_enter();
  // A call of this very thread is inside: a signal's handler asks.
  [[nodiscard]] bool interrupted() const {
    if (threads_.get() == Threads::many) return mutex_.mine();
    return mutex_.mine() || (on_lone_thread() && process_->lock().owner_inside());
  }
  void leave() {
    if (device_->has_unreferenced()) [[unlikely]]
      destroy_unreferenced();
    sim::Process& process = *process_;
    if (process.kernel().unfinished() || device_->tasks().any_awake_for_coprocessor()) [[unlikely]]
      process.arm_coprocessor();
    if (threaded()) {
      if (beside_lone_thread_ || !mutex_.mine()) [[unlikely]]
        return leave_beside();
      process.lock().owner_leave();
      mutex_.unlock();
    } else {
      process.lock().owner_leave();
    }
  }

  // Between rounds of a wait with several threads: who waits for the lock has it first.
  void let_others_in() {
    if (!mutex_.wanted() && mutex_.mine()) return;
    leave();
    mutex_.let_in();
    enter();
  }
  // Others that are ready to run get this processor first.
  void yield() { outside_rest_.rest(0); }
  // How often a thread was inside after another one.
  [[nodiscard]] std::uint32_t turns() const { return mutex_.turns(); }
  // Where threads wait for what one of them sees.
  [[nodiscard]] WaitRoom& wait_room() { return wait_room_; }

  [[nodiscard]] sim::Process& process() { return *process_; }
  [[nodiscard]] Device& device() { return *device_; }
  [[nodiscard]] CallTrace& call_trace() { return call_trace_; }
  [[nodiscard]] ErrorTable& errors() { return errors_; }
  [[nodiscard]] ObjectTables& tables() { return tables_; }
  [[nodiscard]] int thread_level() const { return thread_level_.get(); }
  // The one that may call MPI as long as several may not.
  [[nodiscard]] bool on_lone_thread() const { return std::this_thread::get_id() == lone_thread_.get(); }
  [[nodiscard]] bool on_main_thread() const { return std::this_thread::get_id() == main_thread_.get(); }
  [[nodiscard]] RankExtension* collectives() { return collectives_.get(); }
  [[nodiscard]] bool threaded() const { return threads_.get() != Threads::one; }
  // Of all processes of the job, and of this one: the library's own when the program has them not.
  [[nodiscard]] Communicator& world() { return world_; }
  // All processes too, for the library's own messages (Group::kNoSession).
  [[nodiscard]] Communicator& own_world() { return own_world_; }
  [[nodiscard]] Communicator& self() { return self_; }

  void set_error_handler(Communicator& communicator, ErrorHandlerPtr handler);
  // Whose handler takes errors of no communicator: the world's (paper 002, section 7.2); MPI 4.0 gives them to
  // MPI_COMM_SELF, whose handler is asked when the program set that one alone.
  [[nodiscard]] const Communicator& raises_the_rest() const;
  // The same handler, for any thread, inside or not.
  struct HandlerOfTheRest {
    ErrorHandlerPtr handler;
    MPI_Comm communicator = MPI_COMM_WORLD;
  };
  [[nodiscard]] HandlerOfTheRest handler_of_the_rest() const;

  // By handle; nullptr when there is no such living object.
  [[nodiscard]] Communicator* communicator(MPI_Comm handle) {
    if (handle == world_handle_) return &world_;
    return handle == self_handle_ ? &self_ : communicators_.find(handle);
  }
  [[nodiscard]] Datatype* datatype(MPI_Datatype handle) {
    Datatype* const predefined = predefined_types_.find(handle);
    return predefined != nullptr ? predefined : datatypes_.find(handle);
  }
  [[nodiscard]] HandleTable<Datatype>& datatypes() { return datatypes_; }
  [[nodiscard]] UserRequest* request(MPI_Request handle) { return requests_.find(handle); }
  // Of any send that was over when it began, as with MPICH: nothing has to be kept for it, nor given back.
  [[nodiscard]] MPI_Request sent_request() const { return sent_request_.handle; }
  [[nodiscard]] HandleTable<Message>& messages() { return messages_; }
  // What MPI_Op_create made; of each the table is the owner's (gone at the end of MPI).
  [[nodiscard]] HandleTable<Operation>& operations() { return operations_; }

  // New objects, with a handle. nullptr: the table is full.
  // `remote`: the other group of an intercommunicator. Its contexts come by set_context(); until then, kNoContext.
  [[nodiscard]] Communicator* add_communicator(GroupPtr group, GroupPtr remote = nullptr);
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
  // Living objects, for the list of what was never given back.
  [[nodiscard]] std::vector<Communicator*> living_communicators() const { return communicators_.alive(); }
  [[nodiscard]] std::vector<Datatype*> living_datatypes() const { return datatypes_.alive(); }
  [[nodiscard]] std::vector<UserRequest*> living_requests() const { return requests_.alive(); }
  // nullptr, unless MARGAY_LEAKS asks who made what.
  [[nodiscard]] Origins* origins() { return origins_.get(); }
  void note_origin(Handle handle) {
    if (origins_ != nullptr) [[unlikely]]
      origins_->note(handle);
  }
  // With origins: from now on the next request is made the long way round, which notes who makes it. So the short way
  // needs not ask.
  void hide_free_requests();

  // Gives a communicator its contexts. Requires: it had kNoContext.
  static void set_context(Communicator& communicator, const AgreedContext& agreed);
  // The user's handle goes; the object too, once nothing refers to it.
  void free_communicator(Communicator& communicator);
  // Those that the program holds and that came from this session.
  [[nodiscard]] std::vector<Communicator*> communicators_of(std::uint32_t session) const;
  void free_datatype(Datatype& type);
  void free_request(UserRequest& request);
  void release(Communicator& communicator);
  void release(Datatype& type);

  // Types made for Fortran's kinds (MPI_Type_create_f90_real and its kin), kept until the end.
  [[nodiscard]] std::vector<Datatype*>& kind_types() { return kind_types_; }

  [[nodiscard]] ContextPool& contexts() { return contexts_; }
  // For who tells of messages that nobody received (mpi_adi/rank/unreceived).
  [[nodiscard]] ReceivingSide receiving_side();
  [[nodiscard]] GroupTable& groups() { return groups_; }

  // For a communicator that this process makes together with others: no process of the job ever offers the same twice.
  [[nodiscard]] std::uint64_t next_generation();
  // A number for each MPI_Psend_init.
  [[nodiscard]] std::uint64_t next_partition_channel() { return partition_channels_++; }

  [[nodiscard]] BufferedSends& buffered() { return *buffered_; }
  // Puts the protocol counts and what else this rank counts on the job board.
  void publish_accounts();

 private:
  MpiRank() = default;
  void make_world();
  [[gnu::noinline]] void note_thread();
  void begin_many();
  [[gnu::noinline]] void enter_beside_lone_thread();
  [[gnu::noinline]] void leave_beside();
  // Another free request, a hidden or a new one.
  [[gnu::noinline]] void make_request();
  // A waiting thread lets the others in while it yields or sleeps.
  class OutsideRest final : public sim::Rest {
   public:
    explicit OutsideRest(MpiRank& rank) : rank_(rank) {}
    void rest(std::uint64_t ns) override {
      rank_.leave();
      rank_.process_->give_way(ns);
      rank_.enter();
    }

   private:
    MpiRank& rank_;
  };

  // A thread of several ends.
  class EndOfThread final : public sim::ThreadEnds {
   public:
    explicit EndOfThread(MpiRank& rank) : rank_(rank) {}
    void thread_ends() override;

   private:
    MpiRank& rank_;
  };

  // Its contexts are free again. Requires: freed, and nothing refers to it.
  void destroy(Communicator& communicator);
  [[gnu::noinline]] void destroy_unreferenced();

  OutsideRest outside_rest_{*this};
  EndOfThread end_of_thread_{*this};
  std::unique_ptr<sim::Process> process_;
  std::unique_ptr<Device> device_;
  CallTrace call_trace_;
  ErrorTable errors_;
  ObjectTables tables_;
  mutable std::mutex rest_mutex_;
  HandlerOfTheRest rest_;
  sim::ThreadLock mutex_;
  WaitRoom wait_room_;
  std::uint64_t dropped_told_ = 0;  // ready sends that were dropped here
  sim::Published<int> thread_level_{MPI_THREAD_MULTIPLE};
  // How the process lock is taken. one: without the threads' lock, which only a thread may do that is alone. asked:
  // another one has come, but the lone thread may be inside that way, or about to be; until it has seen this, others
  // take the coprocessor's side of the process lock.
  enum class Threads : std::uint8_t { one, asked, many };
  sim::Published<Threads> threads_{Threads::one};
  bool beside_lone_thread_ = false;  // the holder of the threads' lock has the coprocessor's side
  Communicator world_;
  Communicator self_;
  Communicator own_world_;
  // By which the program has these two; while it has not, by what is no handle. So each call that looks one up is
  // spared to look whether it is there.
  static constexpr MPI_Comm kNoHandle = 0x3fffffff;
  static_assert(handle_kind(kNoHandle) == HandleKind::invalid);
  MPI_Comm world_handle_ = kNoHandle;
  MPI_Comm self_handle_ = kNoHandle;
  PredefinedTypes predefined_types_;
  HandleTable<Communicator> communicators_{ObjectType::communicator};
  HandleTable<Datatype> datatypes_{ObjectType::datatype, kPairTypeCount};
  std::vector<Datatype*> kind_types_;
  HandleTable<UserRequest> requests_{ObjectType::request, 1};
  UserRequest sent_request_;
  HandleTable<Message> messages_{ObjectType::request};
  HandleTable<Operation> operations_{ObjectType::op};
  std::uint64_t partition_channels_ = 0;
  std::uint32_t generations_ = 0;
  std::vector<std::unique_ptr<UserRequest>> request_pool_;
  UserRequest* free_requests_ = nullptr;
  std::unique_ptr<Origins> origins_;
  UserRequest* hidden_requests_ = nullptr;  // free as well
  ContextPool contexts_;
  GroupTable groups_;
  std::unique_ptr<BufferedSends> buffered_;
  sim::Published<std::thread::id> main_thread_{std::this_thread::get_id()};
  sim::Published<std::thread::id> lone_thread_{std::this_thread::get_id()};
  std::unique_ptr<RankExtension> collectives_;
};

}  // namespace margay::mpi_adi
