// `margay trace messages`: a line for each message.
#pragma once

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_messages(CLI::App& trace);

}  // namespace margay::command
