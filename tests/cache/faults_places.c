/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that are missing, full or not to be trusted, and environments that name none. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults.h"
#include "hooked_calls.h"

static char deep[160], moved[160];

static void prepare(void) {
    fault_must_store();
    snprintf(deep, sizeof deep, "%s/deep", fault_root);
    snprintf(moved, sizeof moved, "%s/moved", fault_root);
}

static void use_both(void) {
    fault_look_up();
    fault_store();
}

static void deleted(void) {
    prepare();
    fault_remove(deep);
    use_both();
}

static void replaced_by_file(void) {
    prepare();
    fault_remove(fault_directory);
    fault_write_file(fault_directory, (const unsigned char *)"x", 1);
    use_both();
    remove(fault_directory);
}

static void replaced_by_link(void) {
    prepare();
    if (rename(fault_directory, moved) != 0 || symlink(moved, fault_directory) != 0)
        fault_saw("cannot plant a link");
    use_both();
    remove(fault_directory);
}

static void with_mode(const char *below, mode_t mode) {
    char path[200];
    prepare();
    snprintf(path, sizeof path, "%s%s", fault_directory, below);
    if (chmod(path, mode) != 0)
        fault_saw("cannot change a mode");
    use_both();
    chmod(path, 0700);
}

static void writable_by_all(void) {
    with_mode("", 0777);
}

static void writable_by_group(void) {
    with_mode("", 0770);
}

static void entries_writable_by_group(void) {
    with_mode("/" PMM_CACHE_ENTRIES, 0770);
}

/* Root gives it away; another user takes one of root's. */
static void of_another_user(void) {
    prepare();
    char own[sizeof fault_directory];
    strcpy(own, fault_directory);
    if (geteuid() == 0 && chown(fault_directory, 12345, 12345) != 0)
        fault_saw("cannot give a directory away");
    if (geteuid() != 0)
        strcpy(fault_directory, "/usr");
    use_both();
    strcpy(fault_directory, own);
    if (geteuid() == 0 && chown(fault_directory, 0, 0) != 0)
        fault_saw("cannot take a directory back");
}

/* ---- environment ---- */

static void with_home(const char *home, const char *xdg) {
    prepare();
    setenv("HOME", home != NULL ? home : "", 1);
    if (home == NULL)
        unsetenv("HOME");
    xdg != NULL ? setenv("XDG_CACHE_HOME", xdg, 1) : unsetenv("XDG_CACHE_HOME");
    unsetenv("PORTMM_CACHE_DIR");
    fault_by_environment = true;
    fault_store();
    fault_look_up();
    fault_by_environment = false;
}

static void home_unset(void) {
    with_home(NULL, NULL);
}

static void home_empty(void) {
    with_home("", NULL);
}

static void home_root(void) {
    with_home("/", NULL);
}

static void home_relative(void) {
    with_home("home/user", NULL);
}

static void home_unwritable(void) {
    with_home("/proc", NULL);
}

static void home_non_ascii(void) {
    char home[160];
    snprintf(home, sizeof home, "%s/\xd0\x9b\xc3\xa9\xe6\xbc\xa2 \"'$x", fault_root);
    with_home(home, NULL);
}

/* Of names short enough for the file system: the whole is too long. */
static void home_4_kib(void) {
    char home[4200];
    size_t length = (size_t)snprintf(home, sizeof home, "%s", fault_root);
    while (length < 4096) {
        home[length] = length % 200 == 0 ? '/' : 'h';
        length++;
    }
    home[length] = '\0';
    with_home(home, NULL);
}

static void home_long_name(void) {
    char home[512];
    snprintf(home, sizeof home, "%s/%0300d", fault_root, 0);
    with_home(home, NULL);
}

static void xdg_relative(void) {
    with_home(fault_root, "cache");
}

/* ---- disk ---- */

/* A mount that only this process sees. */
static void mount_here(const char *type, unsigned long flags, const char *options) {
    char ids[64];
    int uid = (int)getuid();
    if (unshare(CLONE_NEWNS | (uid == 0 ? 0 : CLONE_NEWUSER)) != 0) {
        fault_saw("no mounts of our own: %s", strerror(errno));
        return;
    }
    if (uid != 0) {
        snprintf(ids, sizeof ids, "%d %d 1", uid, uid);
        fault_write_file("/proc/self/uid_map", (const unsigned char *)ids, strlen(ids));
    }
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(type != NULL ? type : deep, deep, type, flags, options) != 0 ||
        (type == NULL && mount("none", deep, NULL, flags | MS_REMOUNT | MS_RDONLY, NULL) != 0))
        fault_saw("cannot mount: %s", strerror(errno));
}

static void use_small_disk(void) {
    char full[200];
    mount_here("tmpfs", 0, "size=4k,mode=700");
    snprintf(full, sizeof full, "%s/full", deep);
    FILE *file = fopen(full, "w");
    for (int i = 0; file != NULL && i < 8192; i++)
        fputc('x', file);
    if (file != NULL)
        fclose(file);
    use_both();
}

static void use_read_only_disk(void) {
    mount_here(NULL, MS_BIND, NULL);
    use_both();
}

static void disk_full(void) {
    prepare();
    fault_await(fault_start(use_small_disk), 0);
}

static void disk_read_only(void) {
    prepare();
    fault_await(fault_start(use_read_only_disk), 0);
}

static int writes_left;

static int fill_up(test_call call) {
    return call == TEST_WRITE && writes_left-- <= 0 ? ENOSPC : 0;
}

/* Writes are cut into pieces: some bytes still fit. */
static void full_halfway(void) {
    prepare();
    for (int pieces = 1; pieces < 6; pieces++) {
        writes_left = pieces;
        test_hook_calls(fill_up);
        fault_store();
        fault_look_up(); /* what was there before is still there */
    }
}

const fault fault_places[] = {{"directory deleted", deleted},
                              {"directory replaced by a file", replaced_by_file},
                              {"directory replaced by a symbolic link", replaced_by_link},
                              {"directory of mode 0777", writable_by_all},
                              {"directory of mode 0770", writable_by_group},
                              {"`entries` of mode 0770", entries_writable_by_group},
                              {"directory of another user", of_another_user},
                              {"HOME unset", home_unset},
                              {"HOME empty", home_empty},
                              {"HOME is /", home_root},
                              {"HOME relative", home_relative},
                              {"HOME cannot be written (/proc)", home_unwritable},
                              {"HOME not ASCII, with quotes and blanks", home_non_ascii},
                              {"HOME of 4 KiB", home_4_kib},
                              {"HOME with a name of 300 bytes", home_long_name},
                              {"XDG_CACHE_HOME relative: HOME counts", xdg_relative},
                              {"disk full (tmpfs of 4 KiB)", disk_full},
                              {"disk full halfway through a write", full_halfway},
                              {"file system mounted read-only", disk_read_only},
                              {NULL, NULL}};
