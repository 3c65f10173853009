#include "libraries/zipcode/methods.hpp"

#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>

namespace margay::zipcode::core {

namespace {

// Marks of methods in memory of their own. Neither is likely in a Method that the program has filled in.
constexpr unsigned long kMade = 0x7a69706d6574686f;
constexpr unsigned long kMadeOf = 0x7a69706d6574686e;

// Calls the function of a method as the type that it was made from.
template <typename Function>
Function* function_of(const Method& method) {
  return reinterpret_cast<Function*>(method.function);
}

const char* name_of_kind(int kind) {
  switch (kind) {
    case ZIP_METHOD_COMBINE:
      return "a combine method";
    case ZIP_METHOD_TYPED:
      return "a typed method";
    case ZIP_METHOD_CONVERSION:
      return "a conversion method";
    case ZIP_METHOD_EXECUTE:
      return "an execute method";
    case ZIP_METHOD_FUNCTION:
      return "a method of another function";
    default:
      return "not a valid method";
  }
}

// Integers wrap around, as unsigned ones do.
template <typename T, typename Operation>
T wrapped(T a, T b, Operation operation) {
  if constexpr (std::is_integral_v<T>) {
    // Not narrower than unsigned int: a product of two unsigned shorts would be a signed int.
    using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(operation(static_cast<Wide>(a), static_cast<Wide>(b)));
  } else {
    return operation(a, b);
  }
}

template <typename T>
T combined(int operation, T a, T b) {
  switch (operation) {
    case ZIP_BUILTIN_ADD:
      return wrapped(a, b, [](auto x, auto y) { return x + y; });
    case ZIP_BUILTIN_MUL:
      return wrapped(a, b, [](auto x, auto y) { return x * y; });
    case ZIP_BUILTIN_MIN:
      return b < a ? b : a;
    case ZIP_BUILTIN_MAX:
      return a < b ? b : a;
    case ZIP_BUILTIN_LAND:
      return static_cast<T>(a != T{} && b != T{});
    case ZIP_BUILTIN_LOR:
      return static_cast<T>(a != T{} || b != T{});
    case ZIP_BUILTIN_LXOR:
      return static_cast<T>((a != T{}) != (b != T{}));
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (operation == ZIP_BUILTIN_BAND) return static_cast<T>(a & b);
    if (operation == ZIP_BUILTIN_BOR) return static_cast<T>(a | b);
    if (operation == ZIP_BUILTIN_BXOR) return static_cast<T>(a ^ b);
  }
  return a;  // typed_error() excludes this
}

// Pairs of value and location.
template <typename T>
void combine_pairs(bool is_max, T* into, const T* from, int items) {
  for (int i = 0; i + 1 < items; i += 2) {
    const bool is_better = is_max ? into[i] < from[i] : from[i] < into[i];
    const bool is_equal = !(into[i] < from[i]) && !(from[i] < into[i]);
    if (is_better || (is_equal && from[i + 1] < into[i + 1])) {
      into[i] = from[i];
      into[i + 1] = from[i + 1];
    }
  }
}

template <typename T>
void combine_all(int operation, void* into, const void* from, int items) {
  T* const to = static_cast<T*>(into);
  const T* const with = static_cast<const T*>(from);
  if (operation == ZIP_BUILTIN_MAXLOC || operation == ZIP_BUILTIN_MINLOC) {
    combine_pairs(operation == ZIP_BUILTIN_MAXLOC, to, with, items);
    return;
  }
  for (int i = 0; i < items; ++i) to[i] = combined(operation, to[i], with[i]);
}

// The function of all built-in methods; `state` is the method itself, whose place in the table is its number.
void combine_builtin(void* into, const void* from, char type, int items, void* state);

Zip_function* builtin_function() {
  return reinterpret_cast<Zip_function*>(&combine_builtin);
}

struct Builtins {
  Builtins() {
    for (Method& method : methods) method = {ZIP_METHOD_TYPED, 0, builtin_function(), &method, 0};
  }
  Method methods[ZIP_BUILTIN_METHODS];
};

Builtins& builtins() {
  static Builtins all;
  return all;
}

// The number of a built-in method; -1: a method of the program.
int builtin_number(const Method& method) {
  if (method.function != builtin_function()) return -1;
  return static_cast<int>(static_cast<const Method*>(method.state) - builtins().methods);
}

void combine_builtin(void* into, const void* from, char type, int items, void* state) {
  const int operation = static_cast<int>(static_cast<const Method*>(state) - builtins().methods);
  switch (type) {
    case 'c':
      return combine_all<char>(operation, into, from, items);
    case 's':
      return combine_all<short>(operation, into, from, items);
    case 'i':
      return combine_all<int>(operation, into, from, items);
    case 'l':
      return combine_all<long>(operation, into, from, items);
    case 'f':
      return combine_all<float>(operation, into, from, items);
    default:
      return combine_all<double>(operation, into, from, items);
  }
}

bool takes_pairs(const Method& method) {
  const int number = builtin_number(method);
  return number == ZIP_BUILTIN_MAXLOC || number == ZIP_BUILTIN_MINLOC;
}

// The state of a method of make_method_of().
struct Typed {
  Method method{};
  Method* of = nullptr;
  char type = 0;
  int elements = 1;
};

void combine_of(void* into, const void* from, int, int items, void* state) {
  const Typed& typed = *static_cast<const Typed*>(state);
  const int most = std::numeric_limits<int>::max() / typed.elements;
  const std::size_t bytes = builtin_bytes(typed.type) * static_cast<std::size_t>(typed.elements);
  char* to = static_cast<char*>(into);
  const char* with = static_cast<const char*>(from);
  while (items > 0) {
    const int some = items < most ? items : most;
    combine_typed(*typed.of, to, with, typed.type, some * typed.elements);
    to += bytes * static_cast<std::size_t>(some);
    with += bytes * static_cast<std::size_t>(some);
    items -= some;
  }
}

}  // namespace

std::size_t builtin_bytes(char type) {
  switch (type) {
    case 'c':
      return sizeof(char);
    case 's':
      return sizeof(short);
    case 'i':
      return sizeof(int);
    case 'l':
      return sizeof(long);
    case 'f':
      return sizeof(float);
    case 'd':
      return sizeof(double);
    default:
      return 0;
  }
}

std::string kind_error(const Method* method, int kind, const char* role) {
  if (method == nullptr) return std::string("the ") + role + " method is NULL";
  if (method->function == nullptr) return std::string("the ") + role + " method has no function; was it freed?";
  if (method->kind == kind) return {};
  std::string text =
      std::string("the ") + role + " method is " + name_of_kind(method->kind) + " instead of " + name_of_kind(kind);
  if (kind == ZIP_METHOD_COMBINE && method->kind == ZIP_METHOD_TYPED)
    text += "; zip_new_method_of(method, 'd') makes one for doubles";
  return text;
}

std::string combine_error(const Method* method, std::size_t size) {
  if (std::string error = kind_error(method, ZIP_METHOD_COMBINE, "combine"); !error.empty()) return error;
  if (method->size == 0 || static_cast<std::size_t>(method->size) == size) return {};
  return "the combine method is for items of " + std::to_string(method->size) + " bytes, but the items have " +
         std::to_string(size);
}

void combine(const Method& method, void* into, const void* from, int size, int items) {
  function_of<Zip_combine_function>(method)(into, from, size, items, method.state);
}

std::string typed_error(const Method* method, char type, int items) {
  if (std::string error = kind_error(method, ZIP_METHOD_TYPED, "combine"); !error.empty()) return error;
  if (builtin_bytes(type) == 0) return std::string("'") + type + "' is not a built-in type (c, s, i, l, f, d)";
  const int number = builtin_number(*method);
  const bool is_bitwise = number == ZIP_BUILTIN_BAND || number == ZIP_BUILTIN_BOR || number == ZIP_BUILTIN_BXOR;
  if (is_bitwise && (type == 'f' || type == 'd'))
    return std::string("a bitwise method cannot combine floating-point numbers ('") + type + "')";
  if (takes_pairs(*method) && items % 2 != 0) {
    return "ZIP_MAXLOC and ZIP_MINLOC need pairs of value and location, but the number of elements is " +
           std::to_string(items);
  }
  return {};
}

void combine_typed(const Method& method, void* into, const void* from, char type, int items) {
  function_of<Zip_typed_combine_function>(method)(into, from, type, items, method.state);
}

Method* make_method(int kind, int size, Zip_function* function, void* state) {
  return new (std::nothrow) Method{kind, size, function, state, kMade};
}

std::string make_method_of(Method* method, char type, Method*& out) {
  out = nullptr;
  if (std::string error = typed_error(method, type, 0); !error.empty()) return error;
  auto* typed = new (std::nothrow) Typed;
  if (typed == nullptr) return "out of memory";
  typed->of = method;
  typed->type = type;
  typed->elements = takes_pairs(*method) ? 2 : 1;
  typed->method = {ZIP_METHOD_COMBINE, static_cast<int>(builtin_bytes(type)) * typed->elements,
                   reinterpret_cast<Zip_function*>(&combine_of), typed, kMadeOf};
  out = &typed->method;
  return {};
}

std::string free_method(Method* method) {
  if (method == nullptr) return "the method is NULL";
  if (method->origin != kMade && method->origin != kMadeOf)
    return "the method was made by neither zip_new_method() nor zip_new_method_of()";
  if (method->origin == kMadeOf) {
    // The method is the first member of its Typed.
    delete reinterpret_cast<Typed*>(method);
  } else {
    delete method;
  }
  return {};
}

}  // namespace margay::zipcode::core

Method* zip_builtin_method(int number) {
  if (number < 0 || number >= ZIP_BUILTIN_METHODS) return nullptr;
  return &margay::zipcode::core::builtins().methods[number];
}

namespace {

Method* new_method(int kind, Zip_function* function, void* state) {
  return function == nullptr ? nullptr : margay::zipcode::core::make_method(kind, 0, function, state);
}

}  // namespace

Method* zip_new_combine_method(Zip_combine_function* fn, void* state) {
  return new_method(ZIP_METHOD_COMBINE, reinterpret_cast<Zip_function*>(fn), state);
}

Method* zip_new_typed_method(Zip_typed_combine_function* fn, void* state) {
  return new_method(ZIP_METHOD_TYPED, reinterpret_cast<Zip_function*>(fn), state);
}

Method* zip_new_conversion_method(Zip_conversion_function* fn, void* state) {
  return new_method(ZIP_METHOD_CONVERSION, reinterpret_cast<Zip_function*>(fn), state);
}

Method* zip_new_execute_method(Zip_execute_function* fn, void* state) {
  return new_method(ZIP_METHOD_EXECUTE, reinterpret_cast<Zip_function*>(fn), state);
}

Method* zip_new_function_method(Zip_function* fn, void* state) {
  return new_method(ZIP_METHOD_FUNCTION, fn, state);
}
