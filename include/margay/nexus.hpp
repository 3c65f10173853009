// Nexus: remote service requests over links, whose communication methods are chosen separately from the program (paper
// 003). docs/nexus.md is the tutorial. Link with margay::nexus (CMake) or margay-nexus (pkg-config), and start the
// program with `margay run`.
//
//   margay::nexus::init();
//   margay::nexus::register_handler("greet", [](Endpoint& endpoint, Buffer& buffer) { ... });
//   Endpoint endpoint;                       // in this context
//   Startpoint startpoint(endpoint);         // a link; put it into a buffer to send it to another context
//   send(startpoint, "greet", Buffer().put(7));
//   margay::nexus::finish();
//
// Each function throws `error` for misuse, and for errors that other contexts report. Only the thread that called
// init(), and handlers, may call these functions.
#pragma once

#include "margay/nexus/buffer.hpp"
#include "margay/nexus/context.hpp"
#include "margay/nexus/endpoint.hpp"
#include "margay/nexus/enquiry.hpp"
#include "margay/nexus/error.hpp"
#include "margay/nexus/request.hpp"
#include "margay/nexus/startpoint.hpp"
