// A library with state of its own.
#pragma once

extern int counter_value;
// 1, 2, 3, ...
int counter_next(void);
int counter_thread_value(void);
