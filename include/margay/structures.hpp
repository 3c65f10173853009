// The message structures of Puma portals: headers, match lists and memory descriptors (paper 001, section 1.2), for
// programs on portals (margay/portals.hpp) and for communication libraries (margay/host.hpp). The contract of each is
// in its header.
#pragma once

// Match lists and memory descriptors: the places where a message may be deposited.
#include "portals/match/match_list.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/memory/independent_block.hpp"

// Headers, bodies, results, and the table to which lists and descriptors are attached.
#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "portals/base/status.hpp"
#include "portals/portal_table.hpp"
