#include "mpi_adi/rank/origins.hpp"

namespace margay::mpi_adi {

void Origins::enter(const Origin& call) {
  const std::lock_guard guard(mutex_);
  calls_[std::this_thread::get_id()].push_back(call);
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

Origin Origins::current() const {
  const auto thread = calls_.find(std::this_thread::get_id());
  return thread == calls_.end() ? Origin() : thread->second.back();
}

Origin Origins::of(Handle handle) const {
  const std::lock_guard guard(mutex_);
  const auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? Origin() : found->second;
}

Origin Origins::of(const UserRequest& request) const {
  const std::lock_guard guard(mutex_);
  const auto found = by_request_.find(&request);
  return found == by_request_.end() ? Origin() : found->second;
}

std::vector<const void*> Origins::callers() const {
  const std::lock_guard guard(mutex_);
  std::unordered_set<const void*> all;
  for (const auto& [handle, origin] : by_handle_) all.insert(origin.caller);
  for (const auto& [request, origin] : by_request_) all.insert(origin.caller);
  all.erase(nullptr);
  return {all.begin(), all.end()};
}

}  // namespace margay::mpi_adi
