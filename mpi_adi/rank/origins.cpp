#include "mpi_adi/rank/origins.hpp"

namespace margay::mpi_adi {

void Origins::leave() {
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
  const auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? std::string_view() : found->second;
}

std::string_view Origins::of(const UserRequest& request) const {
  const auto found = by_request_.find(&request);
  return found == by_request_.end() ? std::string_view() : found->second;
}

}  // namespace margay::mpi_adi
