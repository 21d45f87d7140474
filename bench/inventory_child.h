/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine has, told by a process of its own: a driver that crashes takes nobody along. */
#ifndef BENCH_INVENTORY_CHILD_H
#define BENCH_INVENTORY_CHILD_H

/* First argument of such a process; a spec ("opencl", "auto": every backend) and a stamp follow. */
#define BENCH_INVENTORY_CHILD "--inventory-child"

/* Writes {"backends": [...], "devices": [...]} to stdout: the members of portmm_backend_info and portmm_device_info,
 * and "properties" with what portmm_inventory_visit_properties tells,
 * and "nvidia" as bench_nvidia_devices tells them for backend cuda; or {"error": text, "status": number}. */
int bench_inventory_main(int argc, char **argv);

#endif
