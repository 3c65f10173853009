#include "mpi_adi/rank/origins.hpp"

namespace margay::mpi_adi {

void Origins::enter(std::string_view function, const void* caller) {
  const std::lock_guard guard(mutex_);
  calls_[std::this_thread::get_id()].push_back({function, caller});
}

void Origins::record(Handle handle) {
  const std::lock_guard guard(mutex_);
  by_handle_[handle] = current();
  // The handle names a new object, which has not been reported.
  reported_.erase(handle);
}

void Origins::record(const UserRequest& request) {
  const std::lock_guard guard(mutex_);
  by_request_[&request] = current();
}

bool Origins::report_once(Handle handle) {
  const std::lock_guard guard(mutex_);
  return reported_.insert(handle).second;
}

void Origins::leave() {
  const std::lock_guard guard(mutex_);
  const auto thread = calls_.find(std::this_thread::get_id());
  // This object may have been made inside a call, whose end then finds no entry.
  if (thread == calls_.end()) return;
  thread->second.pop_back();
  // An empty list is removed, so the table does not grow with threads that have ended.
  if (thread->second.empty()) calls_.erase(thread);
}

Origin Origins::current() {
  const auto thread = calls_.find(std::this_thread::get_id());
  if (thread == calls_.end()) return {};
  const Entered& call = thread->second.back();
  return {call.function, sim::source_location(call.caller, modules_)};
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

std::vector<sim::SourceLocation> Origins::locations() const {
  const std::lock_guard guard(mutex_);
  std::vector<sim::SourceLocation> all;
  for (const auto& [handle, origin] : by_handle_) all.push_back(origin.location);
  for (const auto& [request, origin] : by_request_) all.push_back(origin.location);
  return all;
}

}  // namespace margay::mpi_adi
