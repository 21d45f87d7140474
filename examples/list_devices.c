/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine has: every backend with its devices, or the reason why it is unavailable.
 *
 *     list_devices [BACKEND]         only that one
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <portmm/portmm.h>

static void check(portmm_status status) {
    if (status == PORTMM_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", portmm_status_text(status), portmm_last_error());
    exit(1);
}

static const char *get_type_name(portmm_device_type type) {
    switch (type) {
    case PORTMM_DEVICE_CPU:
        return "CPU";
    case PORTMM_DEVICE_GPU:
        return "GPU";
    case PORTMM_DEVICE_ACCELERATOR:
        return "accelerator";
    case PORTMM_DEVICE_OTHER:
        break;
    }
    return "device";
}

static void print_device(const portmm_device_info *device) {
    printf("  %s:%d  %s (%s)\n", device->backend, (int)device->index, device->name, get_type_name(device->type));
    if (device->platform_name[0] != '\0')
        printf("      platform   %s, %s\n", device->platform_name, device->platform_version);
    if (device->driver_version[0] != '\0')
        printf("      driver     %s\n", device->driver_version);
    printf("      memory     %" PRIu64 " MiB\n", device->memory_size >> 20);
    printf("      types      f32%s\n", device->has_f64 ? ", f64" : "");
    printf("      engines    %s\n", device->engines);
    if (device->unavailable_reason[0] != '\0')
        printf("      cannot be used: %s\n", device->unavailable_reason);
}

int main(int argc, char **argv) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = argc > 1 ? argv[1] : "auto"; /* auto: all */
    portmm_inventory *inventory;
    check(portmm_inventory_create(&options, &inventory));

    for (size_t i = 0; i < portmm_inventory_backend_count(inventory); i++) {
        portmm_backend_info backend = PORTMM_BACKEND_INFO_INIT;
        check(portmm_inventory_get_backend(inventory, i, &backend));
        printf("%s: %s\n", backend.name, backend.available ? "available" : backend.unavailable_reason);
    }
    for (size_t i = 0; i < portmm_inventory_device_count(inventory); i++) {
        portmm_device_info device = PORTMM_DEVICE_INFO_INIT;
        check(portmm_inventory_get_device(inventory, i, &device));
        print_device(&device);
    }

    portmm_inventory_destroy(inventory); /* the strings above belonged to it */
    return 0;
}
