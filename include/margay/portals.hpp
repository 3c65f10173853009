// The public header of Puma portals, for C++ programs that need no MPI. docs/portals_api.md is the tutorial;
// examples/portals_pingpong.cpp and examples/portals_zoo.cpp are programs. Link with margay::portals (CMake) or
// margay-portals (pkg-config), and start the program with `margay run`.
//
// margay::Program joins the job, has the portal table, sends and waits. Memory descriptors and match lists, in
// margay::portals, are objects of the program. The contract of each is in its header.
#pragma once

// The process: start, put, get, wait_until, compute, settle, finish, and the decisions of its kernel.
#include "sim/program/program.hpp"

// Match lists, memory descriptors, headers and the portal table.
#include "margay/structures.hpp"

// The kernel's decisions about messages.
#include "portals/deliver.hpp"

namespace margay {

// The names that programs use most, without the layer's namespace.
using sim::Decision;
using sim::HeaderValues;
using sim::Program;
using sim::saved_of;
using sim::Sending;
using sim::Stop;
using sim::WireId;

}  // namespace margay
