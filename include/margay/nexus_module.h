/* The C interface of a communication module of Nexus: a method by which requests reach another context (paper 003,
 * section 3.1: "a communication module comprises a set of communication functions ... an initialization function ...
 * and functions that construct communication descriptors and objects"). docs/nexus_modules.md has a skeleton and the
 * rules.
 *
 * A shared object is a module if it exports
 *
 *   const margay_nexus_module* margay_nexus_module_table(void);
 *
 * which returns a table that lives as long as the process. Nexus loads it by dlopen() (`--nexus-load NAME=PATH`, the
 * resource file, or margay::nexus::load_module()), checks its version and its functions, and then accesses the module
 * through the table only. If a function returns an invalid value, Nexus switches the module off, with an error that
 * names the module and the function.
 *
 * Threads: Nexus calls the functions of a module under the rank's process lock, never two at a time. A function must
 * not wait, and must not call Nexus or MPI, except for the services of margay_nexus_host. The calls may come from any
 * thread of the process.
 *
 * Memory: pointers that a function receives are valid until it returns, except for margay_nexus_host, which is valid
 * until finish() returns. Strings are UTF-8 and end with a zero byte.
 *
 * Errors: `why` is a buffer of `why_bytes` bytes. A function that fails writes to it what happened and the cure, as a
 * zero-terminated string.
 *
 * Accounting: the traffic of a module does not pass through the kernel, so the accounting of messages does not contain
 * it. A module that loses messages reports them (margay_nexus_host::report_lost), so that sent = delivered + dropped +
 * lost.
 */
#ifndef MARGAY_NEXUS_MODULE_H
#define MARGAY_NEXUS_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A module of another version is refused. */
#define MARGAY_NEXUS_MODULE_VERSION 1u

/* Maximum bytes of a module's name without the zero byte, of a descriptor, of a message's header and of `why`, and
 * maximum pieces of a body. */
#define MARGAY_NEXUS_NAME_MOST 15
#define MARGAY_NEXUS_DESCRIPTOR_MOST 256
#define MARGAY_NEXUS_HEADER_MOST 64
#define MARGAY_NEXUS_WHY_BYTES 256
#define MARGAY_NEXUS_PIECES_MOST 8

/* Properties of a module, for `margay_nexus_module::traits`. */
enum {
  /* Messages of one object arrive in the order of their sends. */
  MARGAY_NEXUS_ORDERED = 1,
  /* A message that send() has accepted arrives, unless the peer is lost. */
  MARGAY_NEXUS_RELIABLE = 2,
  /* The module transforms bodies before another method sends them (compression, encryption). It implements encode and
   * decode; Nexus does not call send and poll. */
  MARGAY_NEXUS_TRANSFORM = 4,
  /* open_many() is implemented: one send reaches several contexts. */
  MARGAY_NEXUS_MULTICAST = 8,
  /* Bodies are encrypted or never leave the machine: acceptable where a channel demands security. */
  MARGAY_NEXUS_SECURE = 16
};

/* Properties of the traffic for which a method is selected, for applicable(). */
enum {
  /* The program declares the content confidential (margay::nexus::Quality::secure). */
  MARGAY_NEXUS_CONFIDENTIAL = 1,
  /* The content consists of long bodies. */
  MARGAY_NEXUS_BULK = 2,
  /* The peer lies on another node. */
  MARGAY_NEXUS_OFF_NODE = 4
};

/* The result of send(). */
enum {
  MARGAY_NEXUS_TAKEN = 0, /* the module has the message; the caller may reuse the memory */
  MARGAY_NEXUS_FULL = 1,  /* the module did not take the message; Nexus retries after a later poll() */
  MARGAY_NEXUS_FAILED = 2 /* the object cannot reach its peer, for the reason `why` */
};

/* A run of bytes. */
typedef struct margay_nexus_bytes {
  const void* base;
  size_t bytes;
} margay_nexus_bytes;

/* A parameter, from the resource file, the command line or a call. Both are strings. */
typedef struct margay_nexus_parameter {
  const char* name;
  const char* value;
} margay_nexus_parameter;

/* The services of Nexus for one module in one context. Later versions append. */
typedef struct margay_nexus_host {
  uint32_t version; /* MARGAY_NEXUS_MODULE_VERSION */
  uint32_t size;    /* sizeof(margay_nexus_host) */
  void* self;       /* the first argument of the functions below */
  /* This context and the number of contexts; this node and the number of nodes; a number that is equal in all
   * contexts of the job, and unique among the jobs of the machine. */
  uint32_t context, contexts, node, nodes;
  uint64_t session;
  /* Delivers a message, inside poll() only. `header` has the bytes that the sender's send() received, `body` all of
   * its body. `source` is the sending context, which Nexus trusts: the module must have authenticated it. Nexus copies
   * both. Returns 0; or nonzero if Nexus has dropped the message as damaged. */
  int (*deliver)(void* self, uint32_t source, const void* header, size_t header_bytes, const void* body,
                 size_t body_bytes);
  /* Count messages from `source` that were lost, and messages that arrived and were dropped as damaged or
   * unauthenticated. */
  void (*report_lost)(void* self, uint32_t source, uint64_t messages);
  void (*report_dropped)(void* self, uint64_t messages, const char* why);
  /* Derives a key of `bytes` bytes (at most 64) from the job's secret for this purpose and pair of contexts. Both
   * contexts of the pair derive equal keys, other jobs different ones. `label`: at most 31 bytes. Pass `one` == `other`
   * == UINT32_MAX for a key of all contexts. Returns 0, or nonzero for invalid arguments. */
  int (*derive_key)(void* self, const char* label, uint32_t one, uint32_t other, void* key, size_t bytes);
  /* Whether a context is lost. */
  int (*is_lost)(void* self, uint32_t context);
} margay_nexus_host;

/* The table of a module. Functions marked "optional" may be null. Later versions append. */
typedef struct margay_nexus_module {
  uint32_t version; /* MARGAY_NEXUS_MODULE_VERSION */
  uint32_t size;    /* sizeof(margay_nexus_module) */
  /* 1 to 15 letters, digits, '_' and '-', such as "fifo". Two contexts share a method if both have a module of this
   * name. */
  const char* name;
  /* A noun phrase for lists: "named FIFOs in a directory". */
  const char* description;
  /* A sum of MARGAY_NEXUS_ORDERED and so on. */
  uint32_t traits;
  /* Hints for selection and enquiry: the typical one-way time of a short message, the cost of a poll that finds
   * nothing, and the rate. 0: unknown. */
  uint32_t latency_ns;
  uint32_t poll_cost_ns;
  uint64_t bytes_per_second;
  /* The longest body that send() takes, in bytes; UINT64_MAX: any. Nexus sends longer ones by other methods. */
  uint64_t body_most;

  /* Starts the module in this context: called once, before any other function. `parameters` are those set before.
   * `*state` is the first argument of all other functions. Returns 0, or nonzero with `why`; finish() is then not
   * called. */
  int (*init)(const margay_nexus_host* host, const margay_nexus_parameter* parameters, size_t count, void** state,
              char* why, size_t why_bytes);
  /* Ends the module, after all objects are closed. Must return in bounded time. */
  void (*finish)(void* state);

  /* Writes the descriptor by which other contexts reach this one, at most `most` bytes. Returns its length; negative:
   * the context cannot be reached by this method. Descriptors travel in startpoints, so they contain no addresses of
   * memory. */
  int64_t (*descriptor)(void* state, void* bytes, size_t most);
  /* Whether this context can reach context `peer`, whose descriptor is `theirs`; `own` is this context's. `content`: a
   * sum of MARGAY_NEXUS_CONFIDENTIAL and so on. Returns 1 for yes, 0 for no with `why` as the reason. `theirs` may
   * contain any bytes, because startpoints come from other contexts. */
  int (*applicable)(void* state, const void* own, size_t own_bytes, uint32_t peer, const void* theirs,
                    size_t theirs_bytes, uint32_t content, char* why, size_t why_bytes);

  /* Opens a communication object to a context, once for all startpoints that share it. Returns 0, or nonzero with
   * `why`. */
  int (*open)(void* state, uint32_t peer, const void* theirs, size_t theirs_bytes, void** object, char* why,
              size_t why_bytes);
  /* Optional; required by MARGAY_NEXUS_MULTICAST. As open(), to several contexts. */
  int (*open_many)(void* state, size_t count, const uint32_t* peers, const margay_nexus_bytes* theirs, void** object,
                   char* why, size_t why_bytes);
  void (*close)(void* state, void* object);

  /* Required unless MARGAY_NEXUS_TRANSFORM. Sends a message: a header of at most MARGAY_NEXUS_HEADER_MOST bytes, and a
   * body of `pieces` runs. Returns MARGAY_NEXUS_TAKEN, _FULL or _FAILED. Never waits. */
  int (*send)(void* state, void* object, const void* header, size_t header_bytes, const margay_nexus_bytes* body,
              size_t pieces, char* why, size_t why_bytes);
  /* Required unless MARGAY_NEXUS_TRANSFORM. Delivers at most `most` messages that have arrived. Returns their number;
   * negative: the module has failed, with `why`, and is switched off. */
  int (*poll)(void* state, int most, char* why, size_t why_bytes);
  /* Optional. A file descriptor that is readable when poll() would deliver something; negative: none. */
  int (*wait_descriptor)(void* state);

  /* Required by MARGAY_NEXUS_TRANSFORM. encode_most(): the most bytes that encode() writes for a body of `bytes` bytes.
   * encode() writes the transformed body and returns its length; negative: it failed, with `why`. Messages of one
   * object are decoded in the order of their encoding if the method below keeps order. */
  size_t (*encode_most)(void* state, size_t bytes);
  int64_t (*encode)(void* state, void* object, const void* header, size_t header_bytes, const margay_nexus_bytes* body,
                    size_t pieces, void* out, size_t out_most, char* why, size_t why_bytes);
  /* decode_most(): the length of the body that decode() would write, read from the transformed body, at most `limit`;
   * negative: damaged, with `why`. decode() writes the body and returns its length; negative: damaged, with `why`. The
   * bytes come from a wire and may have any value. */
  int64_t (*decode_most)(void* state, uint32_t source, const void* body, size_t bytes, uint64_t limit, char* why,
                         size_t why_bytes);
  int64_t (*decode)(void* state, uint32_t source, const void* header, size_t header_bytes, const void* body,
                    size_t bytes, void* out, size_t out_most, char* why, size_t why_bytes);

  /* Optional. Changes a parameter. Returns 0, or nonzero with `why` for an unknown name or an invalid value. */
  int (*set_parameter)(void* state, const char* name, const char* value, char* why, size_t why_bytes);
  /* Optional. The parameter, and the statistic, of this index: returns 1 and sets the results; 0: past the end. `value`
   * has `value_bytes` bytes. */
  int (*parameter)(void* state, size_t index, const char** name, char* value, size_t value_bytes);
  int (*statistic)(void* state, size_t index, const char** name, uint64_t* value);
} margay_nexus_module;

/* The name of the function that a module exports, and its type. */
#define MARGAY_NEXUS_MODULE_SYMBOL "margay_nexus_module_table"
typedef const margay_nexus_module* (*margay_nexus_module_function)(void);

#ifdef __cplusplus
}
#endif

#endif /* MARGAY_NEXUS_MODULE_H */
