#include "mpi_adi/rank/origins.hpp"

namespace margay::mpi_adi {

void Origins::enter(const char* name) {
  const std::lock_guard guard(mutex_);
  calls_[std::this_thread::get_id()].push_back(name);
}

void Origins::note(Handle handle) {
  const std::lock_guard guard(mutex_);
  by_handle_[handle] = current();
  told_.erase(handle);
}

void Origins::note(const UserRequest& request) {
  const std::lock_guard guard(mutex_);
  by_request_[&request] = current();
}

bool Origins::tell(Handle handle) {
  const std::lock_guard guard(mutex_);
  return told_.insert(handle).second;
}

void Origins::leave() {
  const std::lock_guard guard(mutex_);
  const auto thread = calls_.find(std::this_thread::get_id());
  if (thread == calls_.end()) return;
  thread->second.pop_back();
  if (thread->second.empty()) calls_.erase(thread);
}

std::string_view Origins::current() const {
  const auto thread = calls_.find(std::this_thread::get_id());
  return thread == calls_.end() ? std::string_view() : std::string_view(thread->second.back());
}

std::string_view Origins::of(Handle handle) const {
  const std::lock_guard guard(mutex_);
  const auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? std::string_view() : found->second;
}

std::string_view Origins::of(const UserRequest& request) const {
  const std::lock_guard guard(mutex_);
  const auto found = by_request_.find(&request);
  return found == by_request_.end() ? std::string_view() : found->second;
}

}  // namespace margay::mpi_adi
