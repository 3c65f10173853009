/* Methods and invoices of Zipcode, for C and C++ (zipcode.h includes this header). An invoice lists variables of the
 * program; zip_pack() copies them into a letter or a buffer, and zip_unpack() copies them back. A method is a function
 * with its state: the operation of a combine, or the conversion of a type of the program's. docs/zipcode_invoices.md is
 * the reference.
 *
 *   Zip_Invoice *invoice;
 *   zip_new_invoice(&invoice, "%i%10.2d", &i, doubles);      an int, and every other one of 20 doubles
 *   length = zip_pack(mailer, invoice, ZIP_LETTER, &letter, ZIP_IGNORE);
 *   g2_send(mailer, letter, p, q);                           or both: g2_pack_send(mailer, p, q, invoice)
 *   ...
 *   zip_unpack(mailer, invoice, ZIP_LETTER, letter);
 *   zip_free_invoice(&invoice);
 *
 * Source: Skjellum, Smith, Doss, Leung, Morari, The Design and Evolution of Zipcode (1994), section 4.5. Calls that the
 * paper does not print are marked "ours".
 *
 * Errors: as in zipcode.h, every error calls the error handler, which by default prints it and ends the job. A call
 * that returns int then returns -1. */
#ifndef MARGAY_ZIPCODE_INVOICES_H
#define MARGAY_ZIPCODE_INVOICES_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque: see zipcode.h. */
typedef struct ZIP_MAILER ZIP_MAILER;
/* Opaque: a list of variables of the program. */
typedef struct Zip_Invoice Zip_Invoice;

/* --- Methods ("pointers to functions, plus extra state data", footnote 3) --- */

/* Any function; a method has a pointer to it and calls it by its own type. */
typedef void Zip_function(void);
/* Combines `items` items of `size` bytes: into[i] = into[i] o from[i]. The operation is associative and commutative.
 * Both arrays are aligned as items of `size` bytes are, except for the elements of a user type in zip_pack_combine(). */
typedef void Zip_combine_function(void* into, const void* from, int size, int items, void* state);
/* The same for items of the built-in invoice type `type`: 'c', 's', 'i', 'l', 'f' or 'd'. */
typedef void Zip_typed_combine_function(void* into, const void* from, char type, int items, void* state);
/* A function of a user type: see zip_register_invoice_type(). */
typedef long Zip_conversion_function(void* item, void* space, void* extra, void* state);
/* Runs on the data of a fan-out before they are passed on. */
typedef void Zip_execute_function(void* data, int length, void* state);

/* The kinds of methods. A call that expects another kind fails. */
enum {
  ZIP_METHOD_COMBINE = 1,    /* Zip_combine_function */
  ZIP_METHOD_TYPED = 2,      /* Zip_typed_combine_function: for zip_pack_combine(), or through zip_new_method_of() */
  ZIP_METHOD_CONVERSION = 3, /* Zip_conversion_function */
  ZIP_METHOD_EXECUTE = 4,    /* Zip_execute_function */
  ZIP_METHOD_FUNCTION = 5    /* any other function, for method caching */
};

/* Made by zip_new_method() and the macros below; programs do not set the fields. */
typedef struct Method {
  int kind;
  /* The bytes of an item, for a method of one type; 0: any. */
  int size;
  Zip_function* function;
  void* state;
  /* A mark of methods that zip_free_method() frees; 0 in others. */
  unsigned long origin;
} Method;

/* Make a method that calls fn(..., state). Return NULL for a null function or without memory. `state` must live as long
 * as the method. Freed by zip_free_method(). zip_new_method(fn, state) selects one of the first four by the type of fn;
 * another type of fn does not compile. (ours: the paper names "a simple procedure") */
Method* zip_new_combine_method(Zip_combine_function* fn, void* state);
Method* zip_new_typed_method(Zip_typed_combine_function* fn, void* state);
Method* zip_new_conversion_method(Zip_conversion_function* fn, void* state);
Method* zip_new_execute_method(Zip_execute_function* fn, void* state);
Method* zip_new_function_method(Zip_function* fn, void* state);
/* Makes a method of kind ZIP_METHOD_COMBINE out of a typed one (ZIP_ADD, ...), for items of one built-in type:
 * zip_new_method_of(ZIP_ADD, 'd') is the operation of a g2_combine() of doubles. `method` must live as long as the new
 * one. Freed by zip_free_method(). (ours) */
Method* zip_new_method_of(Method* method, char type);
/* Frees a method that zip_new_method() or zip_new_method_of() has made, and sets *method to NULL. (ours) */
void zip_free_method(Method** method);

/* The twelve built-in methods (4.5.2; the paper names ADD, LAND, MIN, MAX; the others are those of MPI in 1993). They
 * are of kind ZIP_METHOD_TYPED: they work over the elements of an invoice.
 *
 * Bitwise methods (B...) fail for 'f' and 'd'. Logical ones (L...) yield 0 or 1. MAXLOC and MINLOC take the elements of
 * an item of the invoice as pairs of value and location: "%6d" has three pairs. Between equal values the smaller
 * location wins; an odd number of elements is an error. */
enum {
  ZIP_BUILTIN_ADD,
  ZIP_BUILTIN_MUL,
  ZIP_BUILTIN_MIN,
  ZIP_BUILTIN_MAX,
  ZIP_BUILTIN_LAND,
  ZIP_BUILTIN_LOR,
  ZIP_BUILTIN_LXOR,
  ZIP_BUILTIN_BAND,
  ZIP_BUILTIN_BOR,
  ZIP_BUILTIN_BXOR,
  ZIP_BUILTIN_MAXLOC,
  ZIP_BUILTIN_MINLOC,
  ZIP_BUILTIN_METHODS
};
/* The built-in method of this number; NULL for another number. */
Method* zip_builtin_method(int number);
#define ZIP_ADD zip_builtin_method(ZIP_BUILTIN_ADD)
#define ZIP_MUL zip_builtin_method(ZIP_BUILTIN_MUL)
#define ZIP_MIN zip_builtin_method(ZIP_BUILTIN_MIN)
#define ZIP_MAX zip_builtin_method(ZIP_BUILTIN_MAX)
#define ZIP_LAND zip_builtin_method(ZIP_BUILTIN_LAND)
#define ZIP_LOR zip_builtin_method(ZIP_BUILTIN_LOR)
#define ZIP_LXOR zip_builtin_method(ZIP_BUILTIN_LXOR)
#define ZIP_BAND zip_builtin_method(ZIP_BUILTIN_BAND)
#define ZIP_BOR zip_builtin_method(ZIP_BUILTIN_BOR)
#define ZIP_BXOR zip_builtin_method(ZIP_BUILTIN_BXOR)
#define ZIP_MAXLOC zip_builtin_method(ZIP_BUILTIN_MAXLOC)
#define ZIP_MINLOC zip_builtin_method(ZIP_BUILTIN_MINLOC)

/* Macros that make methods of the program (4.5.2; the paper does not print them). Both stand at file scope and define
 * `name`, which is used as a Method *; `result` is an expression of the two operands `a` and `b`.
 *
 *   ZIP_COMBINE_METHOD(add_complex, struct complex, a, b, complex_sum(a, b));    items of one type
 *   ZIP_TYPED_METHOD(absolute_max, a, b, (a < 0 ? -a : a) > (b < 0 ? -b : b) ? a : b);   all six built-in types */
#ifdef __cplusplus
#define ZIP_POINTER_CAST(type, pointer) reinterpret_cast<type>(pointer)
#define ZIP_VALUE_CAST(type, value) static_cast<type>(value)
#else
#define ZIP_POINTER_CAST(type, pointer) ((type)(pointer))
#define ZIP_VALUE_CAST(type, value) ((type)(value))
#endif
#define ZIP_COMBINE_METHOD(name, type, a, b, result)                                                               \
  static void name##_combine(void* zip_into, const void* zip_from, int zip_size, int zip_items, void* zip_state) { \
    int zip_i;                                                                                                     \
    (void)zip_size;                                                                                                \
    (void)zip_state;                                                                                               \
    for (zip_i = 0; zip_i < zip_items; ++zip_i) {                                                                  \
      const type a = ZIP_POINTER_CAST(const type*, zip_into)[zip_i];                                               \
      const type b = ZIP_POINTER_CAST(const type*, zip_from)[zip_i];                                               \
      ZIP_POINTER_CAST(type*, zip_into)[zip_i] = (result);                                                         \
    }                                                                                                              \
  }                                                                                                                \
  static Method name[1] = {{ZIP_METHOD_COMBINE, ZIP_VALUE_CAST(int, sizeof(type)),                                 \
                            ZIP_POINTER_CAST(Zip_function*, name##_combine), NULL, 0}}

#define ZIP_TYPED_METHOD(name, a, b, result)                                                                      \
  ZIP_TYPED_CASE(name##_c, char, a, b, result)                                                                    \
  ZIP_TYPED_CASE(name##_s, short, a, b, result)                                                                   \
  ZIP_TYPED_CASE(name##_i, int, a, b, result)                                                                     \
  ZIP_TYPED_CASE(name##_l, long, a, b, result)                                                                    \
  ZIP_TYPED_CASE(name##_f, float, a, b, result)                                                                   \
  ZIP_TYPED_CASE(name##_d, double, a, b, result)                                                                  \
  static void name##_typed(void* zip_into, const void* zip_from, char zip_type, int zip_items, void* zip_state) { \
    (void)zip_state;                                                                                              \
    if (zip_type == 'c') name##_c(zip_into, zip_from, zip_items);                                                 \
    if (zip_type == 's') name##_s(zip_into, zip_from, zip_items);                                                 \
    if (zip_type == 'i') name##_i(zip_into, zip_from, zip_items);                                                 \
    if (zip_type == 'l') name##_l(zip_into, zip_from, zip_items);                                                 \
    if (zip_type == 'f') name##_f(zip_into, zip_from, zip_items);                                                 \
    if (zip_type == 'd') name##_d(zip_into, zip_from, zip_items);                                                 \
  }                                                                                                               \
  static Method name[1] = {{ZIP_METHOD_TYPED, 0, ZIP_POINTER_CAST(Zip_function*, name##_typed), NULL, 0}}
/* One type of the macro above. */
#define ZIP_TYPED_CASE(name, type, a, b, result)                               \
  static void name(void* zip_into, const void* zip_from, int zip_items) {      \
    int zip_i;                                                                 \
    for (zip_i = 0; zip_i < zip_items; ++zip_i) {                              \
      const type a = ZIP_POINTER_CAST(const type*, zip_into)[zip_i];           \
      const type b = ZIP_POINTER_CAST(const type*, zip_from)[zip_i];           \
      ZIP_POINTER_CAST(type*, zip_into)[zip_i] = ZIP_VALUE_CAST(type, result); \
    }                                                                          \
  }

/* --- Invoices (4.5) --- */

/* Makes an invoice from a format: conversion specifications of the form
 *
 *   % [count | * | &] [. (stride | * | &)] [-] type
 *
 * For each specification the arguments follow in this order: the count if it is '*' (an int) or '&' (an int *), the
 * stride likewise, a pointer to the items, and for a user type with "(*)" the extra pointer. Count and stride are 1 if
 * they are omitted; the stride is a number of items. '*' is evaluated now, '&' at each packing and unpacking, when the
 * item's turn comes: "%i%&d" with &n, &n, a unpacks n first, and then n doubles. Variables of '&' must live as long as
 * the invoice. '-' reserves the space of the items without packing or unpacking them; their pointer may be NULL.
 * Types: c char, s short, i int, l long, f float, d double, or a registered user type; a type is the longest
 * identifier, so "%double" is the user type "double". Blanks between specifications are allowed.
 *
 * Returns 0; or -1 with *inv == NULL, after an error with the position in the format and what was expected there. */
int zip_new_invoice(Zip_Invoice** inv, const char* format, ...);
/* The same with a list of arguments. (ours) */
int zip_vnew_invoice(Zip_Invoice** inv, const char* format, va_list arguments);

/* An item, for zip_add_item(). Fields that are 0 or NULL have their default. (ours) */
typedef struct Zip_Item {
  const char* type;     /* "d", or the name of a user type */
  void* data;           /* the pointer to the items */
  int count;            /* default: 1 */
  int stride;           /* default: 1 */
  const int* count_at;  /* deferred: the count is *count_at at each packing ('&') */
  const int* stride_at; /* deferred: the stride is *stride_at at each packing */
  int count_most;       /* with count_at: a larger count is an error, instead of a write past the end of an array */
  int ignore;           /* not 0: the space is reserved ('-') */
  void* extra;          /* of a user type: "(*)" */
} Zip_Item;

/* The builder, for very large invoices (4.5.3: "the string-based syntax is not particularly convenient" for them):
 * makes an invoice without items, to which the two calls below append. In C:
 *
 *   zip_add_item(invoice, &(Zip_Item){.type = "d", .data = column, .count = rows, .stride = columns});
 *
 * They return 0; or -1 after an error, and the invoice is unchanged. (ours) */
int zip_empty_invoice(Zip_Invoice** inv);
int zip_add_item(Zip_Invoice* inv, const Zip_Item* item);
int zip_add_format(Zip_Invoice* inv, const char* format, ...);

/* The bytes that the invoice occupies when it is packed now for this mailer, with alignment; -1 after an error. */
int zip_sizeof_invoice(ZIP_MAILER* mailer, Zip_Invoice* inv);
/* Frees the invoice and sets *inv to NULL. */
void zip_free_invoice(Zip_Invoice** inv);

/* Registers a user type. `name` is a C identifier other than c, s, i, l, f and d; its scope is the process. The four
 * methods are of kind ZIP_METHOD_CONVERSION: fn(item, space, extra, state). `extra` is the pointer of "(*)", else NULL.
 *
 *   out    packs the item into `space`; returns the number of bytes, which must be what len returned
 *   in     unpacks `space` into the item; returns the number of bytes that it has read
 *   len    returns the bytes of the item when packed. `space` is NULL; or, when zip_unpack() skips an item ('-'), the
 *          packed item, whose length is asked
 *   align  returns the bytes to add in front of the item. `space` is the position in the letter's body, which is
 *          maximally aligned, as a pointer that is not followed; `item` may be NULL
 *
 * A negative result is an error of the method. The methods must live until the type is unregistered.
 * zip_register_invoice_array_type() (ours) also has the bytes from an item to the next one in memory; without them a
 * count other than 1 is an error. Returns 0, or -1 after an error. */
int zip_register_invoice_type(const char* name, Method* in, Method* out, Method* len, Method* align);
int zip_register_invoice_array_type(const char* name, Method* in, Method* out, Method* len, Method* align,
                                    size_t item_bytes);
/* Removes a user type. Invoices that contain it can only be freed afterwards. Returns 0, or -1 after an error. */
int zip_unregister_invoice_type(const char* name);
/* For methods of user types, while they run: the bytes from `space` to the end of the letter or buffer, which `in` must
 * not exceed, and the conversion of the mailer (ZIP_NATIVE or ZIP_XDR). -1 outside of a method. (ours) */
long zip_method_space(void);
int zip_method_conversion(void);

/* Conversions. ZIP_NATIVE (the default): each item at its natural alignment from the beginning of the body, in the
 * machine's representation. ZIP_XDR: RFC 4506, big-endian, in units of four bytes; chars are an opaque array, a short
 * is an int, a long a hyper. */
enum { ZIP_NATIVE = 0, ZIP_XDR = 1 };
/* Sets the conversion of a mailer and its children in this process; all members set the same one. Returns 0, or -1. (ours: 4.5, 5.2) */
int zip_set_conversion(ZIP_MAILER* mailer, int conversion);

/* --- Packing (4.5.1) --- */

enum { ZIP_BUFFER = 1, ZIP_LETTER = 2 };
#define ZIP_IGNORE (-1)

/* Packs the invoice, and returns the bytes that it occupies; or -1 after an error.
 * ZIP_BUFFER: `*ptr` has `len` bytes; with *ptr == NULL and ZIP_IGNORE the buffer is allocated, and freed by free().
 * ZIP_LETTER: `*ptr` is a letter of this mailer; NULL: a letter is made. `len` is ZIP_IGNORE.
 * A letter or buffer that is too small is an error, and remains unchanged. Reserved space ('-') is left as it is in a
 * given letter or buffer, and set to zero in a new one. */
int zip_pack(ZIP_MAILER* mailer, Zip_Invoice* inv, int buffer_type, char** ptr, int len);
/* Unpacks a letter or buffer, and returns the bytes that it has read; or -1 after an error: items before the one that
 * failed are then unpacked. The letter or buffer is still the caller's. A ZIP_BUFFER is trusted to be as long as the
 * invoice; zip_unpack_buffer() (ours) checks its length. */
int zip_unpack(ZIP_MAILER* mailer, Zip_Invoice* inv, int buffer_type, char* ptr);
int zip_unpack_buffer(ZIP_MAILER* mailer, Zip_Invoice* inv, const char* ptr, int len);

/* --- Packed messages (4.5.2) --- */

/* Make a letter, pack it and send it. An invoice of built-in types on a mailer without conversion is copied once, from
 * the variables to the wire, if the wire takes the message at once; others are packed into a letter first. The
 * variables may change when the call returns. Return 0, or -1 after an error. */
int g1_pack_send(ZIP_MAILER* mailer, int p, Zip_Invoice* invoice);
int g2_pack_send(ZIP_MAILER* mailer, int p, int q, Zip_Invoice* invoice);
int g3_pack_send(ZIP_MAILER* mailer, int p, int q, int r, Zip_Invoice* invoice);
int z_pack_send(ZIP_MAILER* mailer, int rank, Zip_Invoice* invoice);
int l_pack_send(ZIP_MAILER* mailer, int node, int pid, long tag, Zip_Invoice* invoice);
int y_pack_send(ZIP_MAILER* mailer, int node, int pid, int tag, Zip_Invoice* invoice);

/* Receive a letter as the blocking receives do, unpack it and free it, also after an error. Return the bytes that were
 * unpacked, or -1 after an error. (ours) */
int g1_recv_unpack(ZIP_MAILER* mailer, int p, Zip_Invoice* invoice);
int g2_recv_unpack(ZIP_MAILER* mailer, int p, int q, Zip_Invoice* invoice);
int g3_recv_unpack(ZIP_MAILER* mailer, int p, int q, int r, Zip_Invoice* invoice);
int z_recv_unpack(ZIP_MAILER* mailer, int rank, Zip_Invoice* invoice);
int l_recv_unpack(ZIP_MAILER* mailer, int node, int pid, long tag, Zip_Invoice* invoice);
int y_recv_unpack(ZIP_MAILER* mailer, int tag, Zip_Invoice* invoice);

/* Combine the elements of the invoices of all members; each member's variables then have the result. Each member's
 * invoice has the same types and counts; strides and reserved items may differ in nothing but their places in memory.
 * A typed method, such as ZIP_ADD, combines elements of built-in types; a method of kind ZIP_METHOD_COMBINE receives
 * every element, and its size must fit; elements of user types are combined in their packed form. Return 0, or -1. */
int g1_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method);
int g2_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method);
int g3_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method);
int z_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method); /* ours, like all further ones */
int l_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method);
/* The same, but the variables of the destination alone have the result; the others' are unchanged. */
int g1_pack_fanin(ZIP_MAILER* mailer, int dest_p, Zip_Invoice* invoice, Method* comb_method);
int g2_pack_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, Zip_Invoice* invoice, Method* comb_method);
int g3_pack_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, int dest_r, Zip_Invoice* invoice, Method* comb_method);
int z_pack_fanin(ZIP_MAILER* mailer, int dest, Zip_Invoice* invoice, Method* comb_method);
int l_pack_fanin(ZIP_MAILER* mailer, int dest_node, int dest_pid, Zip_Invoice* invoice, Method* comb_method);
/* The variables of the origin, at all. The invoices of the others may have deferred sizes: they unpack what was packed. */
int g1_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_p);
int g2_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_p, int orig_q);
int g3_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_p, int orig_q, int orig_r);
int z_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig);
int l_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_node, int orig_pid);
/* By rank, for every class except Y. */
int zip_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method);
int zip_pack_fanin(ZIP_MAILER* mailer, int dest, Zip_Invoice* invoice, Method* comb_method);
int zip_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig);

/* The paper spells several names in two ways; both are accepted. */
#define Zip_new_invoice zip_new_invoice
#define Zip_sizeof_invoice zip_sizeof_invoice
#define Zip_free_invoice zip_free_invoice
#define Zip_register_invoice_type zip_register_invoice_type
#define Zip_unregister_invoice_type zip_unregister_invoice_type
#define Zip_set_conversion zip_set_conversion
#define Zip_pack zip_pack
#define Zip_unpack zip_unpack

#ifdef __cplusplus
} /* extern "C" */

inline Method* zip_new_method(Zip_combine_function* fn, void* state) {
  return zip_new_combine_method(fn, state);
}
inline Method* zip_new_method(Zip_typed_combine_function* fn, void* state) {
  return zip_new_typed_method(fn, state);
}
inline Method* zip_new_method(Zip_conversion_function* fn, void* state) {
  return zip_new_conversion_method(fn, state);
}
inline Method* zip_new_method(Zip_execute_function* fn, void* state) {
  return zip_new_execute_method(fn, state);
}
#else
#define zip_new_method(fn, state)                                 \
  _Generic((fn), Zip_combine_function *                           \
           : zip_new_combine_method, Zip_typed_combine_function * \
           : zip_new_typed_method, Zip_conversion_function *      \
           : zip_new_conversion_method, Zip_execute_function *    \
           : zip_new_execute_method)(fn, state)
#endif

#endif
