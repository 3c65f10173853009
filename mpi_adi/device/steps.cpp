#include "mpi_adi/device/steps.hpp"

#include <new>

namespace margay::mpi_adi {

FramePool::~FramePool() {
  for (Frame* first : free_) {
    while (first != nullptr) drop(std::exchange(first, first->next));
  }
}

void* FramePool::make(std::size_t bytes) {
  const std::size_t size_class = size_class_of(bytes);
  // A whole size class, so that the frame fits any later routine of its class.
  const std::size_t room = size_class < kSizeClasses ? (size_class + 1) * kStep : bytes;
  auto* const frame = static_cast<Frame*>(::operator new(sizeof(Frame) + room));
  frame->pool = this;
  return frame + 1;
}

void FramePool::drop(Frame* frame) {
  ::operator delete(frame);
}

}  // namespace margay::mpi_adi
