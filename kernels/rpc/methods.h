/* The ways to make a round trip. */
#ifndef METHODS_H
#define METHODS_H

#include "trip.h"

extern const struct trip_method call_method;     /* Sun RPC, as rpcgen and libtirpc make it */
extern const struct trip_method exchange_method; /* as many bytes, written and read without them */

/* The file name of the library that calls go through; NULL where it is unknown. */
const char *procedure_library(void);

#endif
