// The request of a request-based access (MPI 4.0, 12.3.5). It is complete when no message of the access is in progress
// at this origin.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/rma/rma.hpp"

namespace margay::mpi {

// The request counts the access's messages in progress, plus one while the call is still starting them, and is complete
// at 0. Owned by its handle; after MPI_Request_free it deletes itself when complete.
class RmaRequest final : public UpperLayerRequest, private Listener {
 public:
  // `of`: the window's communicator, which the request keeps.
  RmaRequest(Device& device, Communicator& of) : UpperLayerRequest(RequestKind::one_sided), device_(device) {
    communicator = &of;
    ++of.references;
    outstanding_.count = 1;  // the call that begins it
    outstanding_.all_done = this;
  }
  ~RmaRequest() override { device_.drop_reference(*communicator); }
  // The count of the access's messages, which the device changes; its listener is this request.
  [[nodiscard]] Outstanding& outstanding() { return outstanding_; }
  // With --check-rma: the access counts as complete when the request is. Called once, before the access begins.
  void set_announced(int target, const Access::Announced& access) {
    target_ = target;
    announced_ = access;
  }
  // Called when the call has begun all its messages.
  void finish_start() {
    if (--outstanding_.count == 0) notify();
  }
  // The error of the access; MPI_ERR_RMA_RANGE comes from the target of a dynamic window. `text`: the message, if the
  // class alone does not explain the error.
  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& text) override {
    if (announced_.number != 0) [[unlikely]]
      end_announced(rank);
    fill_status(status, MPI_UNDEFINED, MPI_UNDEFINED, 0);
    if (outstanding_.error_class == MPI_ERR_RMA_RANGE) text = "some of the bytes are outside of the target's window";
    return outstanding_.error_class;
  }
  // After MPI_Request_free: deletes itself, now or when complete.
  [[nodiscard]] int give_up(MpiRank& /*rank*/, std::string& /*text*/) override {
    given_up_ = true;
    if (complete) delete this;
    return MPI_SUCCESS;
  }

 private:
  // The last message is complete.
  void notify() override {
    complete = true;
    device_.record_completion();
    if (given_up_) delete this;
  }

  // Reports the access as complete, without a wait for the target's answer. Later accesses of this process are
  // announced behind this report, and later accesses of other processes are not compared with an access that ends with
  // its request.
  void end_announced(MpiRank& rank) {
    const Access::Announced access = std::exchange(announced_, {});
    Window* const window = rank.rma().window_of(*communicator);
    if (window == nullptr || window->check == nullptr) return;
    window->check->buffers.end_access(target_, access.number);
    if (access.ends_alone) {
      rank.rma().announce_completed(*window, target_, Completed::one_access, access.number, nullptr);
    }
  }

  Device& device_;
  // The count of messages in progress, plus one for the call that begins them, and the first error of the messages.
  Outstanding outstanding_;
  bool given_up_ = false;
  int target_ = 0;
  // With --check-rma: the access as announced; number 0: none.
  Access::Announced announced_;
};

}  // namespace margay::mpi
