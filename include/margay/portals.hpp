// Puma portals for C++ programs that need no MPI. Link with margay::portals (CMake) or margay-portals (pkg-config), and
// start the program with `margay run`.
//
// margay::sim::Process joins the job that the program was started in; its kernel() has the portal table, the list of
// changed descriptors and send(). Memory descriptors and match lists are the program's own objects, attached to the
// table. The rules of each are in its header.
#pragma once

// What the kernel does with a message.
#include "portals/deliver.hpp"
#include "portals/header.hpp"
#include "portals/portal_table.hpp"

// Where a message may go.
#include "portals/match/match_list.hpp"
#include "portals/memory/combined_block.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/memory/independent_block.hpp"
#include "portals/memory/single_block.hpp"

// The process that all this belongs to.
#include "sim/machine/process.hpp"
