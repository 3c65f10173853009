#include "virtual_machine/program/exit_handlers.hpp"

namespace margay::virtual_machine {

// The handler is removed first: it may add others, or call exit() and not return.
void ExitHandlers::run_last(std::vector<Handler>& handlers, int status) {
  const Handler handler = handlers.back();
  handlers.pop_back();
  if (handler.plain != nullptr) {
    handler.plain(handler.argument);
  } else {
    handler.with_status(status, handler.argument);
  }
}

void ExitHandlers::run(int status) {
  while (!thread_local_.empty() || !handlers_.empty())
    run_last(thread_local_.empty() ? handlers_ : thread_local_, status);
}

}  // namespace margay::virtual_machine
