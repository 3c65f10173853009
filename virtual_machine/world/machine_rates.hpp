// The rates of a simulated machine, by which collective calls choose their algorithms there, as `margay calibrate`
// measures those of a real one.
#pragma once

#include "collectives/cost/rates.hpp"
#include "virtual_machine/model/machine.hpp"

namespace margay::virtual_machine {

// Of messages inside a node and over the machine's preferred network. The rate of a reduction is that of this machine
// times `cpu_scale`. Rates outside of the bounds of rates, such as those of an ideal machine, are at the bounds.
[[nodiscard]] collectives::Rates rates_of(const Machine& machine);

}  // namespace margay::virtual_machine
