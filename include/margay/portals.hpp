// Puma portals for C++ programs that need no MPI: docs/portals_api.md is the tutorial, examples/portals_pingpong.cpp
// and examples/portals_zoo.cpp are programs. Link with margay::portals (CMake) or margay-portals (pkg-config), and
// start the program with `margay run`.
//
// margay::Program joins the job, has the portal table, sends and waits. Memory descriptors and match lists, in
// margay::portals, are the program's own objects. The contract of each is in its header.
#pragma once

// The process: start, put, get, wait_until, compute, settle, finish, and the decisions of its kernel.
#include "sim/program/program.hpp"

// Where a message may go.
#include "portals/match/match_list.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/memory/independent_block.hpp"

// What the kernel does with a message.
#include "portals/base/header.hpp"
#include "portals/deliver.hpp"
#include "portals/portal_table.hpp"

namespace margay {

using sim::Decision;
using sim::HeaderValues;
using sim::Program;
using sim::saved_of;
using sim::Sending;
using sim::Stop;
using sim::WireId;

}  // namespace margay
