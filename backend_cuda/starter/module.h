/* SPDX-License-Identifier: Apache-2.0 */
/* How the starter's kernels get into a device. */
#ifndef PMM_CUDA_MODULE_H
#define PMM_CUDA_MODULE_H

#include "cuda_state.h"

/*
 * The kernels of one element type, loaded: machine code that the build made, where some fits the device; else the
 * build's PTX, which the driver compiles once. What it makes goes into the on-disk cache. To be called with the context
 * current. PORTMM_CUDA_CODE=ptx passes the machine code over, as a GPU later than this build would.
 */
portmm_status pmm_cuda_module_load(pmm_device *device, portmm_dtype dtype, CUmodule *module);

#endif
