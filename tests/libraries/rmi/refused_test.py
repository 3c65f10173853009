#!/usr/bin/env python3
"""Compiles calls of RMI that must not compile, and compares the compiler's errors with what a programmer should read: the
position of the argument and the reason. Correct calls beside them must compile.

    refused_test.py --compiler g++ --include include            all
    refused_test.py --compiler g++ --include include --case span  those whose name has "span"
    --show    prints each compiler's output
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HEAD = """
#include "margay/rmi/stapl.hpp"
#include <functional>
#include <initializer_list>
using namespace margay::rmi;
struct Writer { std::span<std::byte> reserve(std::size_t least); void commit(std::size_t used); };
struct NotTrivial { NotTrivial(const NotTrivial&); };
struct Base { int x = 0; void define_type(typer& type) { type.local(x); } };
struct Inherits : Base { int y = 0; };
struct NoDefault { explicit NoDefault(int); int x; void define_type(typer& type) { type.local(x); } };
class Private { std::string x; void define_type(typer& type) { type.local(x); } };
struct Polymorphic { virtual ~Polymorphic(); };
struct Object {
  void good(int, const std::string&, std::span<const double>, std::string_view, std::vector<Base>&&);
  void change(int, int&);
  void pointer(int*);
  void array(int[4]);
  void text(int, int, const char*);
  void callback(void (*)(int));
  void member(int (Object::*)());
  void span(std::span<int>);
  void nested(std::vector<std::string_view>);
  void wrapped(std::reference_wrapper<int>);
  void list(std::initializer_list<int>);
  void iterator(std::vector<int>::iterator);
  void shared(std::shared_ptr<int>);
  void unique(std::unique_ptr<Polymorphic>);
  void owns(std::unique_ptr<int>);
  void function(std::function<void()>);
  void not_trivial(NotTrivial);
  void inherits(Inherits);
  void no_default(NoDefault);
  void is_private(Private);
  void empty(std::vector<std::tuple<>>);
  void deep(std::map<int, std::vector<int*>>);
  void many(int, int, int, int, int, int, int, int, int*);
  int* pointer_result();
  std::string_view view_result();
};
struct Other { void method(int); };
template <class Method, class... Argument>
void async(Method method, Argument&&... argument) {
  Writer writer;
  post<Object>(writer, Envelope{}, method, std::forward<Argument>(argument)...);
}
template <class Method>
void sync(Method method) {
  Writer writer;
  post_call<Object>(writer, Envelope{}, method);
}
NotTrivial not_trivial();
void calls() {
  int x = 0;
  static_cast<void>(x);
"""

POSITION = "margay::rmi: argument {} cannot travel; the next error has the reason"
# Name, call, and the errors, each with the parts that must be in it; none: it compiles.
CASES = [
    ("good", 'async(&Object::good, 1, "text", std::vector<double>(), std::string(), std::vector<Base>());', []),
    ("good_named", 'async(method<&Object::good>, 1, "text", std::vector<double>(), "view", std::vector<Base>());', []),
    ("good_lambda", "async([x](Object&, int y) { static_cast<void>(x + y); }, 2);", []),
    ("good_unwanted_result", "async(&Object::pointer_result);", []),
    ("good_moved", "async(&Object::owns, std::make_unique<int>(1));", []),
    ("reference", "async(&Object::change, 1, x);", [POSITION.format(2), "margay::rmi: reference to non-const"]),
    ("reference_lambda", "async([](Object&, std::string&) {}, std::string());",
     [POSITION.format(1), "margay::rmi: reference to non-const"]),
    ("pointer", "async(&Object::pointer, &x);", [POSITION.format(1), "margay::rmi: raw pointer"]),
    ("array", "int a[4] = {}; async(&Object::array, a);", [POSITION.format(1), "margay::rmi: raw pointer (an array decays to one)"]),
    ("text", 'async(&Object::text, 1, 2, "text");', [POSITION.format(3), "std::string_view"]),
    ("function", "async(&Object::callback, [](int) {});", [POSITION.format(1), "margay::rmi: function pointer"]),
    ("member", "async(&Object::member, nullptr);", [POSITION.format(1), "margay::rmi: member pointer"]),
    ("span", "async(&Object::span, std::span<int>());", [POSITION.format(1), "take std::span<const T>"]),
    ("nested_view", "async(&Object::nested, std::vector<std::string_view>());", [POSITION.format(1), "would dangle"]),
    ("reference_wrapper", "async(&Object::wrapped, std::ref(x));", [POSITION.format(1), "margay::rmi: std::reference_wrapper"]),
    ("initializer_list", "async(&Object::list, std::initializer_list<int>{1});", [POSITION.format(1), "std::initializer_list"]),
    ("iterator", "std::vector<int> v; async(&Object::iterator, v.begin());", [POSITION.format(1), "margay::rmi: iterator"]),
    ("shared", "async(&Object::shared, std::shared_ptr<int>());", [POSITION.format(1), "margay::rmi: std::shared_ptr"]),
    ("unique", "async(&Object::unique, std::unique_ptr<Polymorphic>());", [POSITION.format(1), "margay::rmi: std::unique_ptr"]),
    ("unmoved", "std::unique_ptr<int> p; async(&Object::owns, p);", [POSITION.format(1), "std::move it"]),
    ("std_function", "async(&Object::function, std::function<void()>());", [POSITION.format(1), "has no public void define_type"]),
    ("not_trivial", "async(&Object::not_trivial, not_trivial());",
     [POSITION.format(1), "has no public void define_type"]),
    ("inherits", "async(&Object::inherits, Inherits());", [POSITION.format(1), "is a base class's"]),
    ("no_default", "async(&Object::no_default, NoDefault(1));", [POSITION.format(1), "needs a default constructor"]),
    ("private", "async(&Object::is_private, Private());", [POSITION.format(1), "has no public void define_type"]),
    ("local_pointer", "struct Local { int* x; void define_type(typer& type) { type.local(x); } };",
     ["a pointer is dynamic(pointer, count), not local"]),
    ("const_member", "struct Local { const int x; void define_type(typer& type) { type.local(x); } };",
     ["a const member cannot be unpacked"]),
    ("member_view", "struct Local { std::string_view x; void define_type(typer& type) { type.local(x); } };", ["would dangle"]),
    ("dynamic_pointers", "struct Local { int** x; void define_type(typer& type) { type.dynamic(x, 1); } };",
     ["margay::rmi: raw pointer"]),
    ("empty", "async(&Object::empty, std::vector<std::tuple<>>());", [POSITION.format(1), "take no bytes"]),
    ("deep", "async(&Object::deep, std::map<int, std::vector<int*>>());", [POSITION.format(1), "margay::rmi: raw pointer"]),
    ("ninth", "async(&Object::many, 1, 2, 3, 4, 5, 6, 7, 8, &x);", ["argument 9 or a later one", "margay::rmi: raw pointer"]),
    ("not_convertible", "async(&Other::method, 1);", ["margay::rmi: the method is not one of the object's class"]),
    ("wrong_argument", 'async(&Object::array, "text");', [POSITION.format(1)]),
    ("text_for_number", 'async(method<&Object::good>, "text", "text", std::vector<double>(), "view", std::vector<Base>());',
     [POSITION.format(1), "does not convert"]),
    ("count", "async(&Object::good, 1);", ["margay::rmi: the method takes another number of arguments"]),
    ("no_method", "async(5, 1);", ["margay::rmi: the method is none"]),
    ("generic_lambda", "async([](Object&, auto) {}, 1);", ["(no auto)"]),
    ("capture", "std::string s; async([s](Object&) {});", ["captures what is not trivially copyable"]),
    ("good_pvector", "pvector<std::vector<Base>> v(3); v[0].push_back(Base()); v[1] = {}; p_sort(*new pvector<int>(3));", []),
    ("pvector_pointer", "pvector<int*> v(3);", ["margay::rmi: the elements of a pvector cannot travel", "margay::rmi: raw pointer"]),
    ("pvector_view", "pvector<std::string_view> v(3);", ["the elements of a pvector cannot travel", "would dangle"]),
    ("pvector_not_trivial", "pvector<NotTrivial>* v = nullptr; static_cast<void>(v->size());",
     ["the elements of a pvector cannot travel", "has no public void define_type"]),
    ("pvector_unique", "pvector<std::unique_ptr<int>>* v = nullptr; static_cast<void>(v->size());", ["margay::rmi: the elements of a pvector are copied"]),
    ("pvector_bool", "pvector<bool> v(3);", ["margay::rmi: a pvector of bool has no spans"]),
    ("result", "sync(&Object::pointer_result);", ["margay::rmi: the result cannot travel", "margay::rmi: raw pointer"]),
    ("view_result", "sync(&Object::view_result);", ["margay::rmi: the result cannot travel", "would dangle"]),
]


def compile_case(options, folder, case):
    name, call, expected = case
    path = os.path.join(folder, name + ".cpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + "  " + call + "\n}\n")
    done = subprocess.run([options.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-I", options.include, path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if options.show:
        print(f"=== {name}\n{done.stdout}")
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    if not expected:
        return [] if done.returncode == 0 and not done.stdout else [f"{name}: does not compile without warnings: {done.stdout}"]
    failures = [f"{name}: no error has {part!r}" for part in expected if not any(part in line for line in errors)]
    strange = [line for line in errors if "margay::rmi: " not in line]
    return failures + [f"{name}: an error that is not RMI's: {line}" for line in strange]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--case", default="")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    options.include = os.path.abspath(options.include)
    cases = [case for case in CASES if options.case in case[0]]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        failures = sum(pool.map(lambda case: compile_case(options, folder, case), cases), [])
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(cases)} calls compiled, {len(failures)} failures")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
