#ifndef SATCHEL_CISAL_SHIM_H
#define SATCHEL_CISAL_SHIM_H

#include <isa-l/erasure_code.h>

#endif
