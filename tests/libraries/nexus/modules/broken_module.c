/* Modules that lie or crash: one shared object for each value of BROKEN. */
#include "margay/nexus_module.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static int begin(const margay_nexus_host* host, const margay_nexus_parameter* parameters, size_t count, void** state,
                 char* why, size_t why_bytes) {
  (void)host, (void)parameters, (void)count, (void)state, (void)why, (void)why_bytes;
  const char* how = getenv("BROKEN_INIT");
  if (how != NULL && strcmp(how, "crash") == 0) raise(SIGSEGV);
  if (how != NULL && strcmp(how, "null") == 0) *(volatile int*)8 = 1;
  if (how != NULL && strcmp(how, "abort") == 0) abort();
  while (how != NULL && strcmp(how, "forever") == 0) pause();
  return 0;
}
static void end(void* state) {
  (void)state;
}
static int64_t describe(void* state, void* bytes, size_t most) {
  (void)state, (void)bytes, (void)most;
  return 0;
}
static int applies(void* state, const void* own, size_t own_bytes, uint32_t peer, const void* theirs,
                   size_t theirs_bytes, uint32_t content, char* why, size_t why_bytes) {
  (void)state, (void)own, (void)own_bytes, (void)peer, (void)theirs, (void)theirs_bytes, (void)content, (void)why;
  (void)why_bytes;
  return 1;
}
static int open_one(void* state, uint32_t peer, const void* theirs, size_t theirs_bytes, void** object, char* why,
                    size_t why_bytes) {
  (void)state, (void)peer, (void)theirs, (void)theirs_bytes, (void)object, (void)why, (void)why_bytes;
  return 0;
}
static void close_one(void* state, void* object) {
  (void)state, (void)object;
}
/* Messages that it has not taken: none, unless BROKEN_SEND is set. After the first one it fails. */
static int refused;
static int send_one(void* state, void* object, const void* header, size_t header_bytes, const margay_nexus_bytes* body,
                    size_t pieces, char* why, size_t why_bytes) {
  (void)state, (void)object, (void)header, (void)header_bytes, (void)body, (void)pieces, (void)why, (void)why_bytes;
  if (getenv("BROKEN_SEND") == NULL) return MARGAY_NEXUS_TAKEN;
  ++refused;
  return MARGAY_NEXUS_FULL;
}
static int poll_all(void* state, int most, char* why, size_t why_bytes) {
  (void)state, (void)most;
  if (refused == 0) return 0;
  strncpy(why, "the line is cut", why_bytes);
  return -1;
}

static margay_nexus_module table = {.version = MARGAY_NEXUS_MODULE_VERSION,
                                    .size = sizeof(margay_nexus_module),
                                    .name = "broken",
                                    .body_most = UINT64_MAX,
                                    .init = begin,
                                    .finish = end,
                                    .descriptor = describe,
                                    .applicable = applies,
                                    .open = open_one,
                                    .close = close_one,
                                    .send = send_one,
                                    .poll = poll_all};

#if BROKEN == 0 /* right, unless BROKEN_INIT or BROKEN_SEND is set */
__attribute__((constructor)) static void promise(void) {
  if (getenv("BROKEN_SEND") != NULL) table.traits = MARGAY_NEXUS_ORDERED | MARGAY_NEXUS_RELIABLE | MARGAY_NEXUS_SECURE;
}
#elif BROKEN == 1
__attribute__((constructor)) static void lie(void) {
  table.version = 2;
}
#elif BROKEN == 2
__attribute__((constructor)) static void lie(void) {
  table.size = 4096;
  table.version = 0;
}
#elif BROKEN == 3
__attribute__((constructor)) static void lie(void) {
  table.poll = NULL;
}
#elif BROKEN == 4
__attribute__((constructor)) static void lie(void) {
  table.poll = (int (*)(void*, int, char*, size_t))(uintptr_t)&table;
}
#elif BROKEN == 5
__attribute__((constructor)) static void lie(void) {
  table.finish = (void (*)(void*))(uintptr_t)8;
}
#elif BROKEN == 6
__attribute__((constructor)) static void lie(void) {
  table.name = (const char*)8;
}
#elif BROKEN == 7
__attribute__((constructor)) static void lie(void) {
  table.description = (const char*)8;
}
#elif BROKEN == 8
__attribute__((constructor)) static void lie(void) {
  table.size = 16;
}
#endif

#if BROKEN == 9
EXPORTED const margay_nexus_module* another_name(void) {
  return &table;
}
#elif BROKEN == 10
EXPORTED int margay_nexus_module_table = 1;
void* unused_table = &table;
#elif BROKEN == 11
EXPORTED const margay_nexus_module* margay_nexus_module_table(void) {
  return (void*)(table.size - sizeof table);
}
#elif BROKEN == 12
EXPORTED const margay_nexus_module* margay_nexus_module_table(void) {
  return (void*)(table.size - sizeof table + 64);
}
#elif BROKEN == 13
EXPORTED const margay_nexus_module* margay_nexus_module_table(void) {
  if (table.size != 0) raise(SIGSEGV);
  return &table;
}
#elif BROKEN == 14
__attribute__((constructor)) static void crash(void) {
  if (table.size != 0) raise(SIGSEGV);
}
EXPORTED const margay_nexus_module* margay_nexus_module_table(void) {
  return &table;
}
#else
EXPORTED const margay_nexus_module* margay_nexus_module_table(void) {
  return &table;
}
#endif
