/* NX, the message passing of the Intel iPSC and Paragon, on mailers of class L (paper 000, section 4.4.1: L-class mail
 * "can be used to support emulation of tagged message notations such as Intel's NX"). A program of the Paragon includes
 * this header in place of <nx.h>, and is linked with margay::zipcode. docs/zipcode_nx.md lists the calls and the
 * differences.
 *
 *   margay run -n 4 ./old_program
 *
 * The calls are macros, so that names such as `gsync` and `led` are not symbols of every program on Zipcode.
 *
 * An application needs no other call: the first one of NX joins the job (all processes make one), with a mailer of all
 * processes; a regular end of the program leaves it. A library that was written for NX works beside others without
 * changes of its types if it has a mailer of its own (4.4.1: "tagged-message registry"):
 *
 *   ZIP_MAILER *former = zip_nx_mailer(mine);      mine: an L mailer
 *   old_library_call();                            csend(), crecv() ... in `mine`
 *   zip_nx_mailer(former);
 *
 * Errors: a message call that fails calls the error handler of Zipcode, which by default ends the job, as NX ends the
 * process. The forms with an underscore return -1 instead. */
#ifndef MARGAY_ZIPCODE_NX_H
#define MARGAY_ZIPCODE_NX_H

#include "margay/zipcode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes `mailer`, of class L, the one that the calls below use; NULL: that of all processes. Returns the former one.
 * Its members are the nodes, numbered by rank. The program makes no other receives in it. (ours) */
ZIP_MAILER* zip_nx_mailer(ZIP_MAILER* mailer);

/* Types of messages: 0 to 999999999, and force types 1073741824 to 1999999999. `typesel` selects: a type; -1 for any
 * type up to 999999999; or another negative number as a mask, whose bits 0 to 29 stand for these types and bit 30 for
 * all types from 30 to 999999999. `node`: -1 for all other nodes. `ptype` (also called pid): 0, and for receives also
 * -1 for any. `info` gets type, count, node and ptype of the message, and may be zip_nx_msginfo(). */
typedef void zip_nx_handler(long type, long count, long node, long ptype);
typedef void zip_nx_xhandler(long type, long count, long node, long ptype, long hparam);
long* zip_nx_msginfo(void);

/* Blocking. */
void zip_nx_csend(long type, const void* buf, long count, long node, long ptype);
void zip_nx_crecv(long typesel, void* buf, long count);
void zip_nx_crecvx(long typesel, void* buf, long count, long nodesel, long ptypesel, long* info);
long zip_nx_csendrecv(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                      long rcount);
void zip_nx_gsendx(long type, const void* buf, long count, const long* nodes, long nodecount);
void zip_nx_cprobe(long typesel);
void zip_nx_cprobex(long typesel, long nodesel, long ptypesel, long* info);
/* Asynchronous: return a message id. */
long zip_nx_isend(long type, const void* buf, long count, long node, long ptype);
long zip_nx_irecv(long typesel, void* buf, long count);
long zip_nx_irecvx(long typesel, void* buf, long count, long nodesel, long ptypesel, long* info);
long zip_nx_isendrecv(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                      long rcount);
long zip_nx_iprobe(long typesel);
long zip_nx_iprobex(long typesel, long nodesel, long ptypesel, long* info);
void zip_nx_msgwait(long mid);
long zip_nx_msgdone(long mid);
void zip_nx_msgignore(long mid);
void zip_nx_msgcancel(long mid);
long zip_nx_msgmerge(long mid1, long mid2);
/* With handlers, which run inside later calls of NX, flick() among them. */
void zip_nx_hsend(long type, const void* buf, long count, long node, long ptype, zip_nx_handler* handler);
void zip_nx_hsendx(long type, const void* buf, long count, long node, long ptype, zip_nx_xhandler* handler,
                   long hparam);
void zip_nx_hrecv(long typesel, void* buf, long count, zip_nx_handler* handler);
void zip_nx_hrecvx(long typesel, void* buf, long count, long nodesel, long ptypesel, zip_nx_xhandler* handler,
                   long hparam);
void zip_nx_hsendrecv(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                      long rcount, zip_nx_handler* handler);
long zip_nx_masktrap(long state);
/* The forms that return what the plain call returns, or 0; and -1 after an error, without calling the error handler.
 * zip_nx_error() is its text. */
long zip_nx_csend_(long type, const void* buf, long count, long node, long ptype);
long zip_nx_crecv_(long typesel, void* buf, long count);
long zip_nx_crecvx_(long typesel, void* buf, long count, long nodesel, long ptypesel, long* info);
long zip_nx_isend_(long type, const void* buf, long count, long node, long ptype);
long zip_nx_irecv_(long typesel, void* buf, long count);
long zip_nx_cprobe_(long typesel);
long zip_nx_iprobe_(long typesel);
long zip_nx_msgwait_(long mid);
long zip_nx_msgdone_(long mid);
long zip_nx_csendrecv_(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                       long rcount);
long zip_nx_gsendx_(long type, const void* buf, long count, const long* nodes, long nodecount);
long zip_nx_cprobex_(long typesel, long nodesel, long ptypesel, long* info);
long zip_nx_irecvx_(long typesel, void* buf, long count, long nodesel, long ptypesel, long* info);
long zip_nx_isendrecv_(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                       long rcount);
long zip_nx_iprobex_(long typesel, long nodesel, long ptypesel, long* info);
long zip_nx_msgignore_(long mid);
long zip_nx_msgcancel_(long mid);
long zip_nx_msgmerge_(long mid1, long mid2);
long zip_nx_hsend_(long type, const void* buf, long count, long node, long ptype, zip_nx_handler* handler);
long zip_nx_hsendx_(long type, const void* buf, long count, long node, long ptype, zip_nx_xhandler* handler,
                    long hparam);
long zip_nx_hrecv_(long typesel, void* buf, long count, zip_nx_handler* handler);
long zip_nx_hrecvx_(long typesel, void* buf, long count, long nodesel, long ptypesel, zip_nx_xhandler* handler,
                    long hparam);
long zip_nx_hsendrecv_(long type, const void* sbuf, long scount, long node, long ptype, long typesel, void* rbuf,
                       long rcount, zip_nx_handler* handler);
const char* zip_nx_error(void);
/* The last message that a call has received or found. */
long zip_nx_infocount(void);
long zip_nx_infonode(void);
long zip_nx_infoptype(void);
long zip_nx_infotype(void);
/* Nodes. */
long zip_nx_mynode(void);
long zip_nx_numnodes(void);
long zip_nx_myptype(void);
void zip_nx_setptype(long ptype);
long zip_nx_nodedim(void);
/* Global operations on all nodes: long, float and double. `work` is not used. */
void zip_nx_gsync(void);
void zip_nx_gcol(const void* x, long xlen, void* y, long ylen, long* ncnt);
void zip_nx_gcolx(const void* x, const long* xlens, void* y);
void zip_nx_gopf(void* x, long xlen, void* work, long (*function)(char* x, char* work));
void zip_nx_combine(int number, char type, void* x, long n);
/* Time in seconds and milliseconds; lets other processes run. */
double zip_nx_dclock(void);
unsigned long zip_nx_mclock(void);
void zip_nx_flick(void);
void zip_nx_led(long state);

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifndef MARGAY_ZIPCODE_NX_NO_NAMES
#define msginfo (zip_nx_msginfo())
#define csend zip_nx_csend
#define crecv zip_nx_crecv
#define crecvx zip_nx_crecvx
#define csendrecv zip_nx_csendrecv
#define gsendx zip_nx_gsendx
#define cprobe zip_nx_cprobe
#define cprobex zip_nx_cprobex
#define isend zip_nx_isend
#define irecv zip_nx_irecv
#define irecvx zip_nx_irecvx
#define isendrecv zip_nx_isendrecv
#define iprobe zip_nx_iprobe
#define iprobex zip_nx_iprobex
#define msgwait zip_nx_msgwait
#define msgdone zip_nx_msgdone
#define msgignore zip_nx_msgignore
#define msgcancel zip_nx_msgcancel
#define msgmerge zip_nx_msgmerge
#define hsend zip_nx_hsend
#define hsendx zip_nx_hsendx
#define hrecv zip_nx_hrecv
#define hrecvx zip_nx_hrecvx
#define hsendrecv zip_nx_hsendrecv
#define masktrap zip_nx_masktrap
#define _csend zip_nx_csend_
#define _crecv zip_nx_crecv_
#define _crecvx zip_nx_crecvx_
#define _isend zip_nx_isend_
#define _irecv zip_nx_irecv_
#define _cprobe zip_nx_cprobe_
#define _iprobe zip_nx_iprobe_
#define _msgwait zip_nx_msgwait_
#define _msgdone zip_nx_msgdone_
#define _csendrecv zip_nx_csendrecv_
#define _gsendx zip_nx_gsendx_
#define _cprobex zip_nx_cprobex_
#define _irecvx zip_nx_irecvx_
#define _isendrecv zip_nx_isendrecv_
#define _iprobex zip_nx_iprobex_
#define _msgignore zip_nx_msgignore_
#define _msgcancel zip_nx_msgcancel_
#define _msgmerge zip_nx_msgmerge_
#define _hsend zip_nx_hsend_
#define _hsendx zip_nx_hsendx_
#define _hrecv zip_nx_hrecv_
#define _hrecvx zip_nx_hrecvx_
#define _hsendrecv zip_nx_hsendrecv_
#define infocount zip_nx_infocount
#define infonode zip_nx_infonode
#define infopid zip_nx_infoptype
#define infoptype zip_nx_infoptype
#define infotype zip_nx_infotype
#define mynode zip_nx_mynode
#define numnodes zip_nx_numnodes
#define mypid zip_nx_myptype
#define myptype zip_nx_myptype
#define setpid zip_nx_setptype
#define setptype zip_nx_setptype
#define nodedim zip_nx_nodedim
#define gsync zip_nx_gsync
#define gcol zip_nx_gcol
#define gcolx zip_nx_gcolx
#define gopf zip_nx_gopf
#define gisum(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_ADD, 'l', (x), (n)))
#define gssum(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_ADD, 'f', (x), (n)))
#define gdsum(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_ADD, 'd', (x), (n)))
#define giprod(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_MUL, 'l', (x), (n)))
#define gsprod(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_MUL, 'f', (x), (n)))
#define gdprod(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_MUL, 'd', (x), (n)))
#define gihigh(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_MAX, 'l', (x), (n)))
#define gshigh(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_MAX, 'f', (x), (n)))
#define gdhigh(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_MAX, 'd', (x), (n)))
#define gilow(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_MIN, 'l', (x), (n)))
#define gslow(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_MIN, 'f', (x), (n)))
#define gdlow(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_MIN, 'd', (x), (n)))
#define giand(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_BAND, 'l', (x), (n)))
#define gior(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_BOR, 'l', (x), (n)))
#define gland(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_LAND, 'l', (x), (n)))
#define glor(x, n, work) ((void)(work), zip_nx_combine(ZIP_BUILTIN_LOR, 'l', (x), (n)))
#define dclock zip_nx_dclock
#define mclock zip_nx_mclock
#define flick zip_nx_flick
#define led zip_nx_led
#endif

#endif
