#ifndef SATCHEL_CSODIUM_SHIM_H
#define SATCHEL_CSODIUM_SHIM_H

#include <sodium.h>

#endif
