// The layer above RMI of STAPL (paper 004, figure 1): the distributed vector, ranges of its elements, and algorithms on
// them. A program sees one container; requests to the owners of its elements are made inside.
//
//   margay::rmi::pvector<int> values(1000000, 0);               // collective: each node stores a part
//   values[17] = 4;                                             // an asynchronous request to the element's owner
//   margay::rmi::rmi_fence();
//   const int x = values[17];                                   // a synchronous one
//   margay::rmi::p_sort(values);                                // collective
//   const auto found = margay::rmi::p_find(values, 4);          // the index on all nodes
//
// Includes margay/rmi.hpp, so that a program includes this header only.
#pragma once

#include "margay/rmi.hpp"
#include "margay/rmi/stapl/p_find.hpp"
#include "margay/rmi/stapl/p_inner_product.hpp"
#include "margay/rmi/stapl/p_sort.hpp"
#include "margay/rmi/stapl/prange.hpp"
#include "margay/rmi/stapl/pvector.hpp"
