/* MPI, as the variant has it: a library's, or the few calls that this project has itself. */
#ifndef MPI_CALLS_H
#define MPI_CALLS_H

#if defined(MPI_OVER_MESSAGES)
#include "over_messages.h"
#else
#include <mpi.h>
#endif

#endif
