// A library that the library counter needs.
#pragma once

extern int base_value;
