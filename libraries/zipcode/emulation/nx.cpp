// The calls of NX: zipcode_nx.h.
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>

#include "libraries/zipcode/emulation/nx_state.hpp"
#include "libraries/zipcode/emulation/outermost_call.hpp"
#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

namespace {

// NX in this process. One thread makes all calls, as in all of Zipcode.
struct Nx {
  std::map<ZIP_MAILER*, std::unique_ptr<NxState>> states;
  // Of all processes; made by the first call without a mailer of the program.
  ZIP_MAILER* everyone = nullptr;
  ZIP_MAILER* current = nullptr;
  int key = -1;  // of the mailers' attribute, which notifies of their ends
  NxInfo info;
  long message[8] = {};
  std::string error;
};

// Never destroyed: the end of the program still uses it.
Nx& nx() {
  static Nx* const one = new Nx;
  return *one;
}

// A program that ends regularly leaves the job. One that fails does not wait for the others in zip_exit().
void leave(int status, void*) {
  nx().states.clear();
  if (status == 0 && here != nullptr) zip_exit();
}

// The state ends with its mailer.
void forget(ZIP_MAILER* mailer, int, void*, void*) {
  nx().states.erase(mailer);
  if (nx().current == mailer) nx().current = nullptr;
  if (nx().everyone == mailer) nx().everyone = nullptr;
}

ZIP_MAILER* everyone() {
  if (nx().everyone != nullptr) return nx().everyone;
  // A program that uses Zipcode as well has begun already, and ends by itself.
  if (here == nullptr) {
    Zip_nohost_global_init();
    on_exit(leave, nullptr);
  }
  ZIP_ADDRESSEES* all = zip_my_node() == 0 ? zip_new_cohort(zip_nodes() - 1, COHORT_FIRST_NODE, 0, 1) : nullptr;
  nx().everyone = l_open(all);
  if (all != nullptr) zip_free_addressees(&all);
  return nx().everyone;
}

NxState& state() {
  ZIP_MAILER* const mailer = nx().current != nullptr ? nx().current : everyone();
  std::unique_ptr<NxState>& found = nx().states[mailer];
  if (found == nullptr) {
    if (nx().key < 0) nx().key = zip_new_key(forget, nullptr);
    found = std::make_unique<NxState>(mailer);
    static_cast<void>(zip_set_attribute(mailer, nx().key, found.get()));
  }
  return *found;
}

// Keeps the error for zip_nx_error(). Returns 0, or -1.
long kept(const char* name, const std::string& error) {
  if (error.empty()) return 0;
  nx().error = std::string(name) + ": " + error;
  return -1;
}

// Reports the error of a call that has no error value.
void end(long result) {
  if (result < 0) report(nx().error);
}

void write_info(const NxInfo& info, long* out) {
  nx().info = info;
  for (long* const to : {static_cast<long*>(nx().message), out}) {
    if (to == nullptr) continue;
    to[0] = info.type;
    to[1] = info.count;
    to[2] = info.node;
    to[3] = info.ptype;
  }
}

long wait_for(const char* name, long mid) {
  NxInfo info;
  bool is_receive = false;
  const std::string error = state().wait(mid, info, is_receive);
  if (is_receive) write_info(info, nullptr);
  return kept(name, error);
}

long receive(const char* name, const NxSelection& selection, void* buf, long count, long* info) {
  long mid = 0;
  if (const std::string error = state().post(selection, buf, count, info, {}, mid); !error.empty())
    return kept(name, error);
  return wait_for(name, mid);
}

long post(const char* name, const NxSelection& selection, void* buf, long count, long* info) {
  long mid = 0;
  const std::string error = state().post(selection, buf, count, info, {}, mid);
  return error.empty() ? mid : kept(name, error);
}

long post_handled(const char* name, const NxSelection& selection, void* buf, long count, const NxHandler& handler) {
  long mid = 0;
  if (handler.plain == nullptr && handler.extended == nullptr) return kept(name, "the handler is NULL");
  const std::string error = state().post(selection, buf, count, nullptr, handler, mid);
  state().poll();
  return kept(name, error);
}

long send(const char* name, long type, const void* buf, long count, long node, long ptype) {
  return kept(name, state().send(type, buf, count, node, ptype));
}

// Sends at once, and returns the id of a complete operation.
long send_later(const char* name, long type, const void* buf, long count, long node, long ptype) {
  if (send(name, type, buf, count, node, ptype) < 0) return -1;
  return state().complete_id({type, count, node, ptype});
}

long send_handled(const char* name, long type, const void* buf, long count, long node, long ptype,
                  const NxHandler& handler) {
  if (handler.plain == nullptr && handler.extended == nullptr) return kept(name, "the handler is NULL");
  if (send(name, type, buf, count, node, ptype) < 0) return -1;
  state().complete_handler(handler, {type, count, node, ptype});
  return 0;
}

// 1, 0, or -1 after an error.
long probe(const char* name, const NxSelection& selection, bool is_blocked, long* out) {
  bool is_there = false;
  NxInfo info;
  const std::string error = state().probe(selection, is_blocked, is_there, info);
  if (!error.empty()) return kept(name, error);
  if (is_there) write_info(info, out);
  return is_there ? 1 : 0;
}

long test(const char* name, long mid) {
  bool is_done = false, is_receive = false;
  NxInfo info;
  const std::string error = state().test(mid, is_done, info, is_receive);
  if (!error.empty()) return kept(name, error);
  if (is_receive) write_info(info, nullptr);
  return is_done ? 1 : 0;
}

// The value of a call, whose error is reported.
long value(long result) {
  end(result);
  return result;
}

// gopf()'s function combines two vectors of the program.
struct Function {
  long (*function)(char*, char*);
  std::vector<char> copy;
};
void combine_by_function(void* into, const void* from, int size, int items, void* pointer) {
  Function& function = *static_cast<Function*>(pointer);
  const auto bytes = static_cast<std::size_t>(size);
  for (int i = 0; i < items; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * bytes;
    // The function may change its second argument.
    std::memcpy(function.copy.data(), static_cast<const char*>(from) + at, bytes);
    function.function(static_cast<char*>(into) + at, function.copy.data());
  }
}

// The name of a global operation.
const char* global_name(int number, char type) {
  struct Named {
    int number;
    const char *of_long, *of_float, *of_double;
  };
  static constexpr Named kNames[] = {
      {ZIP_BUILTIN_ADD, "gisum", "gssum", "gdsum"},    {ZIP_BUILTIN_MUL, "giprod", "gsprod", "gdprod"},
      {ZIP_BUILTIN_MAX, "gihigh", "gshigh", "gdhigh"}, {ZIP_BUILTIN_MIN, "gilow", "gslow", "gdlow"},
      {ZIP_BUILTIN_BAND, "giand", nullptr, nullptr},   {ZIP_BUILTIN_BOR, "gior", nullptr, nullptr},
      {ZIP_BUILTIN_LAND, "gland", nullptr, nullptr},   {ZIP_BUILTIN_LOR, "glor", nullptr, nullptr}};
  for (const Named& each : kNames) {
    const char* const name = type == 'f' ? each.of_float : type == 'd' ? each.of_double : each.of_long;
    if (each.number == number && name != nullptr) return name;
  }
  return "a global operation";
}

long collect(const void* x, long xlen, char* y, long ylen, const long* xlens, long* ncnt) {
  NxState& now = state();
  long at = 0;
  for (long node = 0; node < now.nodes(); ++node) {
    // The origin's data are its own; others get memory.
    void* data = node == now.me() ? const_cast<void*>(x) : nullptr;
    int length = static_cast<int>(xlen);
    const int origin = static_cast<int>(node);
    if (zip_fanout(now.mailer(), &data, &length, origin) != 0) return -1;
    const bool fits = length <= ylen - at && (xlens == nullptr || length == xlens[node]);
    if (fits && length > 0) std::memcpy(y + at, data, static_cast<std::size_t>(length));
    if (node != now.me()) std::free(data);
    if (!fits) {
      return kept(xlens == nullptr ? "gcol" : "gcolx", "node " + std::to_string(node) + " contributes " +
                                                           std::to_string(length) + " bytes, which y has no room for");
    }
    at += length;
  }
  if (ncnt != nullptr) *ncnt = at;
  return 0;
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

ZIP_MAILER* zip_nx_mailer(ZIP_MAILER* mailer) {
  const OutermostCall call("zip_nx_mailer");
  ZIP_MAILER* const former = nx().current;
  if (mailer != nullptr && zip_class(mailer) != ZIP_L) {
    report("zip_nx_mailer: the mailer is not of class L");
    return former;
  }
  nx().current = mailer;
  return former;
}

long* zip_nx_msginfo(void) {
  return nx().message;
}
const char* zip_nx_error(void) {
  return nx().error.c_str();
}

long zip_nx_csend_(long type, const void* buf, long count, long node, long ptype) {
  const OutermostCall call("_csend");
  return send("csend", type, buf, count, node, ptype);
}
void zip_nx_csend(long type, const void* buf, long count, long node, long ptype) {
  const OutermostCall call("csend");
  end(zip_nx_csend_(type, buf, count, node, ptype));
}
long zip_nx_crecv_(long typesel, void* buf, long count) {
  const OutermostCall call("_crecv");
  return receive("crecv", selection_of(typesel), buf, count, nullptr);
}
void zip_nx_crecv(long typesel, void* buf, long count) {
  const OutermostCall call("crecv");
  end(zip_nx_crecv_(typesel, buf, count));
}
long zip_nx_crecvx_(long typesel, void* buf, long count, long nodesel, long ptypesel, long* info) {
  const OutermostCall call("_crecvx");
  return receive("crecvx", selection_of(typesel, nodesel, ptypesel), buf, count, info);
}
void zip_nx_crecvx(long typesel, void* buf, long count, long nodesel, long ptypesel, long* info) {
  const OutermostCall call("crecvx");
  end(zip_nx_crecvx_(typesel, buf, count, nodesel, ptypesel, info));
}
long zip_nx_csendrecv_(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                       long rcount) {
  const OutermostCall call("_csendrecv");
  const long mid = post("csendrecv", selection_of(typesel), rbuf, rcount, nullptr);
  if (mid < 0 || send("csendrecv", type, sbuf, scount, node, ptype) < 0 || wait_for("csendrecv", mid) < 0) return -1;
  return nx().info.count;
}
long zip_nx_csendrecv(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                      long rcount) {
  const OutermostCall call("csendrecv");
  return value(zip_nx_csendrecv_(type, sbuf, scount, node, ptype, typesel, rbuf, rcount));
}
long zip_nx_gsendx_(long type, const void* buf, long count, const long* nodes, long nodecount) {
  const OutermostCall call("_gsendx");
  if (nodes == nullptr && nodecount > 0) return kept("gsendx", "the list of nodes is NULL");
  for (long i = 0; i < nodecount; ++i) {
    if (nodes[i] < 0) return kept("gsendx", "invalid node " + std::to_string(nodes[i]));
    if (send("gsendx", type, buf, count, nodes[i], 0) < 0) return -1;
  }
  return 0;
}
void zip_nx_gsendx(long type, const void* buf, long count, const long* nodes, long nodecount) {
  const OutermostCall call("gsendx");
  end(zip_nx_gsendx_(type, buf, count, nodes, nodecount));
}
long zip_nx_cprobe_(long typesel) {
  const OutermostCall call("_cprobe");
  return probe("cprobe", selection_of(typesel), true, nullptr) < 0 ? -1 : 0;
}
void zip_nx_cprobe(long typesel) {
  const OutermostCall call("cprobe");
  end(zip_nx_cprobe_(typesel));
}
long zip_nx_cprobex_(long typesel, long nodesel, long ptypesel, long* info) {
  const OutermostCall call("_cprobex");
  return probe("cprobex", selection_of(typesel, nodesel, ptypesel), true, info) < 0 ? -1 : 0;
}
void zip_nx_cprobex(long typesel, long nodesel, long ptypesel, long* info) {
  const OutermostCall call("cprobex");
  end(zip_nx_cprobex_(typesel, nodesel, ptypesel, info));
}

long zip_nx_isend_(long type, const void* buf, long count, long node, long ptype) {
  const OutermostCall call("_isend");
  return send_later("isend", type, buf, count, node, ptype);
}
long zip_nx_isend(long type, const void* buf, long count, long node, long ptype) {
  const OutermostCall call("isend");
  return value(zip_nx_isend_(type, buf, count, node, ptype));
}
long zip_nx_irecv_(long typesel, void* buf, long count) {
  const OutermostCall call("_irecv");
  return post("irecv", selection_of(typesel), buf, count, nullptr);
}
long zip_nx_irecv(long typesel, void* buf, long count) {
  const OutermostCall call("irecv");
  return value(zip_nx_irecv_(typesel, buf, count));
}
long zip_nx_irecvx_(long typesel, void* buf, long count, long nodesel, long ptypesel, long* info) {
  const OutermostCall call("_irecvx");
  return post("irecvx", selection_of(typesel, nodesel, ptypesel), buf, count, info);
}
long zip_nx_irecvx(long typesel, void* buf, long count, long nodesel, long ptypesel, long* info) {
  const OutermostCall call("irecvx");
  return value(zip_nx_irecvx_(typesel, buf, count, nodesel, ptypesel, info));
}
long zip_nx_isendrecv_(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                       long rcount) {
  const OutermostCall call("_isendrecv");
  const long mid = post("isendrecv", selection_of(typesel), rbuf, rcount, nullptr);
  if (mid < 0 || send("isendrecv", type, sbuf, scount, node, ptype) < 0) return -1;
  return mid;
}
long zip_nx_isendrecv(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                      long rcount) {
  const OutermostCall call("isendrecv");
  return value(zip_nx_isendrecv_(type, sbuf, scount, node, ptype, typesel, rbuf, rcount));
}
long zip_nx_iprobe_(long typesel) {
  const OutermostCall call("_iprobe");
  return probe("iprobe", selection_of(typesel), false, nullptr);
}
long zip_nx_iprobe(long typesel) {
  const OutermostCall call("iprobe");
  return value(zip_nx_iprobe_(typesel));
}
long zip_nx_iprobex_(long typesel, long nodesel, long ptypesel, long* info) {
  const OutermostCall call("_iprobex");
  return probe("iprobex", selection_of(typesel, nodesel, ptypesel), false, info);
}
long zip_nx_iprobex(long typesel, long nodesel, long ptypesel, long* info) {
  const OutermostCall call("iprobex");
  return value(zip_nx_iprobex_(typesel, nodesel, ptypesel, info));
}
long zip_nx_msgwait_(long mid) {
  const OutermostCall call("_msgwait");
  return wait_for("msgwait", mid);
}
void zip_nx_msgwait(long mid) {
  const OutermostCall call("msgwait");
  end(zip_nx_msgwait_(mid));
}
long zip_nx_msgdone_(long mid) {
  const OutermostCall call("_msgdone");
  return test("msgdone", mid);
}
long zip_nx_msgdone(long mid) {
  const OutermostCall call("msgdone");
  return value(zip_nx_msgdone_(mid));
}
long zip_nx_msgignore_(long mid) {
  const OutermostCall call("_msgignore");
  return kept("msgignore", state().ignore(mid));
}
void zip_nx_msgignore(long mid) {
  const OutermostCall call("msgignore");
  end(zip_nx_msgignore_(mid));
}
long zip_nx_msgcancel_(long mid) {
  const OutermostCall call("_msgcancel");
  return kept("msgcancel", state().cancel(mid));
}
void zip_nx_msgcancel(long mid) {
  const OutermostCall call("msgcancel");
  end(zip_nx_msgcancel_(mid));
}
long zip_nx_msgmerge_(long mid1, long mid2) {
  const OutermostCall call("_msgmerge");
  long merged = -1;
  return kept("msgmerge", state().merge(mid1, mid2, merged)) < 0 ? -1 : merged;
}
long zip_nx_msgmerge(long mid1, long mid2) {
  const OutermostCall call("msgmerge");
  return value(zip_nx_msgmerge_(mid1, mid2));
}

long zip_nx_hsend_(long type, const void* buf, long count, long node, long ptype, zip_nx_handler* handler) {
  const OutermostCall call("_hsend");
  return send_handled("hsend", type, buf, count, node, ptype, {handler, nullptr, 0});
}
void zip_nx_hsend(long type, const void* buf, long count, long node, long ptype, zip_nx_handler* handler) {
  const OutermostCall call("hsend");
  end(zip_nx_hsend_(type, buf, count, node, ptype, handler));
}
long zip_nx_hsendx_(long type, const void* buf, long count, long node, long ptype, zip_nx_xhandler* handler,
                    long hparam) {
  const OutermostCall call("_hsendx");
  return send_handled("hsendx", type, buf, count, node, ptype, {nullptr, handler, hparam});
}
void zip_nx_hsendx(long type, const void* buf, long count, long node, long ptype, zip_nx_xhandler* handler,
                   long hparam) {
  const OutermostCall call("hsendx");
  end(zip_nx_hsendx_(type, buf, count, node, ptype, handler, hparam));
}
long zip_nx_hrecv_(long typesel, void* buf, long count, zip_nx_handler* handler) {
  const OutermostCall call("_hrecv");
  return post_handled("hrecv", selection_of(typesel), buf, count, {handler, nullptr, 0});
}
void zip_nx_hrecv(long typesel, void* buf, long count, zip_nx_handler* handler) {
  const OutermostCall call("hrecv");
  end(zip_nx_hrecv_(typesel, buf, count, handler));
}
long zip_nx_hrecvx_(long typesel, void* buf, long count, long nodesel, long ptypesel, zip_nx_xhandler* handler,
                    long hparam) {
  const OutermostCall call("_hrecvx");
  return post_handled("hrecvx", selection_of(typesel, nodesel, ptypesel), buf, count, {nullptr, handler, hparam});
}
void zip_nx_hrecvx(long typesel, void* buf, long count, long nodesel, long ptypesel, zip_nx_xhandler* handler,
                   long hparam) {
  const OutermostCall call("hrecvx");
  end(zip_nx_hrecvx_(typesel, buf, count, nodesel, ptypesel, handler, hparam));
}
long zip_nx_hsendrecv_(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                       long rcount, zip_nx_handler* handler) {
  const OutermostCall call("_hsendrecv");
  if (post_handled("hsendrecv", selection_of(typesel), rbuf, rcount, {handler, nullptr, 0}) < 0) return -1;
  return send("hsendrecv", type, sbuf, scount, node, ptype);
}
void zip_nx_hsendrecv(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                      long rcount, zip_nx_handler* handler) {
  const OutermostCall call("hsendrecv");
  end(zip_nx_hsendrecv_(type, sbuf, scount, node, ptype, typesel, rbuf, rcount, handler));
}
long zip_nx_masktrap(long mask) {
  const OutermostCall call("masktrap");
  return state().mask(mask != 0) ? 1 : 0;
}

long zip_nx_infocount(void) {
  return nx().info.count;
}
long zip_nx_infonode(void) {
  return nx().info.node;
}
long zip_nx_infoptype(void) {
  return nx().info.ptype;
}
long zip_nx_infotype(void) {
  return nx().info.type;
}
long zip_nx_mynode(void) {
  const OutermostCall call("mynode");
  return state().me();
}
long zip_nx_numnodes(void) {
  const OutermostCall call("numnodes");
  return state().nodes();
}
long zip_nx_myptype(void) {
  return 0;
}
void zip_nx_setptype(long ptype) {
  const OutermostCall call("setptype");
  if (ptype != 0) end(kept("setptype", "the process type is always 0"));
}
long zip_nx_nodedim(void) {
  const OutermostCall call("nodedim");
  long dimensions = 0;
  while ((1L << dimensions) < state().nodes()) ++dimensions;
  return dimensions;
}

void zip_nx_gsync(void) {
  const OutermostCall call("gsync");
  static_cast<void>(zip_sync(state().mailer()));
}
void zip_nx_gcol(const void* x, long xlen, void* y, long ylen, long* ncnt) {
  const OutermostCall call("gcol");
  end(collect(x, xlen, static_cast<char*>(y), ylen, nullptr, ncnt));
}
void zip_nx_gcolx(const void* x, const long* xlens, void* y) {
  const OutermostCall call("gcolx");
  if (xlens == nullptr) return end(kept("gcolx", "the list of lengths is NULL"));
  end(collect(x, xlens[state().me()], static_cast<char*>(y), std::numeric_limits<long>::max(), xlens, nullptr));
}
void zip_nx_gopf(void* x, long xlen, void*, long (*function)(char* x, char* work)) {
  const OutermostCall call("gopf");
  if (function == nullptr) return end(kept("gopf", "the function is NULL"));
  if (xlen < 0 || xlen > std::numeric_limits<int>::max())
    return end(kept("gopf", "invalid length " + std::to_string(xlen)));
  Function by{function, std::vector<char>(static_cast<std::size_t>(xlen))};
  Method* method = zip_new_combine_method(combine_by_function, &by);
  static_cast<void>(zip_combine(state().mailer(), x, method, static_cast<int>(xlen), xlen > 0 ? 1 : 0));
  zip_free_method(&method);
}
void zip_nx_combine(int number, char type, void* x, long n) {
  const char* const name = global_name(number, type);
  const OutermostCall call(name);
  if (n < 0 || n > std::numeric_limits<int>::max())
    return end(kept(name, "invalid number of elements " + std::to_string(n)));
  const int bytes = type == 'f' ? 4 : 8;
  Method* method = zip_new_method_of(zip_builtin_method(number), type);
  if (method == nullptr) return;
  static_cast<void>(zip_combine(state().mailer(), x, method, bytes, static_cast<int>(n)));
  zip_free_method(&method);
}

double zip_nx_dclock(void) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
unsigned long zip_nx_mclock(void) {
  return static_cast<unsigned long>(zip_nx_dclock() * 1000);
}
void zip_nx_flick(void) {
  {
    const OutermostCall call("flick");
    state().poll();
  }
  sched_yield();
}
void zip_nx_led(long) {}
