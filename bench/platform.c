/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, sysconf(_SC_NPROCESSORS_ONLN), environ */
#include "platform.h"

#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static volatile sig_atomic_t interrupted;

/* Children at the start: whoever started this program by exec may have had some. */
static struct {
    pid_t pids[64];
    size_t count;
} inherited_children;

uint64_t bench_clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void sleep_ms(long milliseconds) {
    struct timespec pause = {.tv_nsec = milliseconds * 1000000L};
    (void)nanosleep(&pause, NULL);
}

/* ---- machine ---- */

/* The text behind the first line that starts with `key`, without separators and quotes. */
static void read_field(const char *path, const char *key, char *field, size_t size) {
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return;
    }
    char line[512];
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            char *begin = line + strlen(key);
            begin += strspn(begin, " \t:=\"");
            begin[strcspn(begin, "\"\n")] = '\0';
            (void)snprintf(field, size, "%s", begin);
            break;
        }
    }
    (void)fclose(file);
}

void bench_get_machine(bench_machine *machine) {
    *machine = (bench_machine){.cpu = "unknown", .system = "unknown"};
    read_field("/proc/cpuinfo", "model name", machine->cpu, sizeof machine->cpu);
    read_field("/etc/os-release", "PRETTY_NAME", machine->distribution, sizeof machine->distribution);
    bench_read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", machine->governor,
                    sizeof machine->governor);
    struct utsname name;
    if (uname(&name) == 0) {
        (void)snprintf(machine->system, sizeof machine->system, "%s %s %s", name.sysname, name.release, name.machine);
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    machine->cores = cores > 0 ? cores : 0;
    machine->memory_bytes = pages > 0 && page > 0 ? (double)pages * (double)page : 0;
}

char *const *bench_environment_entries(void) {
    return environ;
}

/* ---- files ---- */

bool bench_self_path(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length <= 0 || (size_t)length >= size) {
        return false;
    }
    path[length] = '\0';
    return true;
}

bool bench_is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

void bench_read_line(const char *path, char *line, size_t size) {
    line[0] = '\0';
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return;
    }
    if (fgets(line, (int)size, file) != NULL) {
        size_t begin = strspn(line, " \t"), end = strcspn(line, "\r\n");
        while (end > begin && (line[end - 1] == ' ' || line[end - 1] == '\t')) {
            end--;
        }
        memmove(line, line + begin, end > begin ? end - begin : 0);
        line[end > begin ? end - begin : 0] = '\0';
    }
    (void)fclose(file);
}

void bench_visit_directory(const char *path, void (*visit)(const char *entry, void *user_data), void *user_data) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            char *entry = bench_format("%s/%s", path, entries[i]->d_name);
            visit(entry, user_data);
            free(entry);
        }
        free(entries[i]);
    }
    free(entries);
}

char *bench_make_private_directory(void) {
    const char *parent = getenv("TMPDIR");
    char *path = bench_format("%s/portmm-bench-XXXXXX", parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (mkdtemp(path) == NULL) {
        free(path);
        return NULL;
    }
    return path;
}

bool bench_make_directory(const char *path) {
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status;
    (void)kind;
    (void)place;
    (void)remove(path); /* what cannot be removed shows when its directory is */
    return 0;
}

bool bench_remove_tree(const char *path) {
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    struct stat status;
    return lstat(path, &status) != 0 && errno == ENOENT;
}

bool bench_stderr_is_terminal(void) {
    return isatty(STDERR_FILENO) == 1;
}

/* ---- signals ---- */

static void note_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

void bench_catch_signals(void) {
    struct sigaction action = {.sa_handler = note_interrupt};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
}

bool bench_interrupted(void) {
    return interrupted != 0;
}

/* ---- child processes ---- */

static bool is_overridden(const char *entry, const bench_command *command) {
    for (size_t i = 0; i < command->variable_count; i++) {
        size_t length = strlen(command->variables[i].name);
        if (strncmp(entry, command->variables[i].name, length) == 0 && entry[length] == '=') {
            return true;
        }
    }
    return false;
}

/* Entries of our own environment are shared, the command's are new text: from *own on. */
static char **make_environment(const bench_command *command, size_t *own) {
    size_t count = 0, total = 0;
    while (environ[total] != NULL) {
        total++;
    }
    char **entries = bench_resize(NULL, total + command->variable_count + 1, sizeof *entries);
    for (size_t i = 0; i < total; i++) {
        if (!is_overridden(environ[i], command)) {
            entries[count++] = environ[i];
        }
    }
    *own = count;
    for (size_t i = 0; i < command->variable_count; i++) {
        const bench_variable *variable = &command->variables[i];
        if (variable->value != NULL) {
            entries[count++] = bench_format("%s=%s", variable->name, variable->value);
        }
    }
    entries[count] = NULL;
    return entries;
}

static void free_environment(char **entries, size_t own) {
    for (size_t i = own; entries[i] != NULL; i++) {
        free(entries[i]);
    }
    free(entries);
}

/* 0 or an errno; on success *pid is running with `output` as its stdout. */
static int spawn(const bench_command *command, char *const *environment, int output, pid_t *pid, uint64_t *start_ns) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        goto destroy_actions;
    }
    sigset_t defaults;
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    error = posix_spawnattr_setsigdefault(&attributes, &defaults);
    error = error != 0 ? error : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    error = error != 0 ? error : posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    error = error != 0 ? error : posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) {
        char *arguments[6] = {NULL};
        size_t count = 0;
        for (; count < 4 && command->arguments[count] != NULL; count++) {
            arguments[count] = (char *)command->arguments[count];
        }
        char stamp[24];
        arguments[count] = stamp;
        *start_ns = bench_clock_ns();
        (void)snprintf(stamp, sizeof stamp, "%llu", (unsigned long long)*start_ns);
        error = posix_spawn(pid, command->arguments[0], &actions, &attributes, arguments, environment);
    }
    (void)posix_spawnattr_destroy(&attributes);
destroy_actions:
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

typedef struct text_buffer {
    char *text;
    size_t length, capacity;
    uint64_t first_ns; /* when the first byte came; 0: not yet */
} text_buffer;

/* False at the end of the stream. */
static bool read_some(int input, text_buffer *buffer) {
    if (buffer->capacity - buffer->length < 4096) {
        buffer->capacity = 2 * buffer->capacity + 8192;
        buffer->text = bench_resize(buffer->text, buffer->capacity, 1);
    }
    ssize_t length = read(input, buffer->text + buffer->length, buffer->capacity - buffer->length - 1);
    if (length > 0) {
        buffer->first_ns = buffer->first_ns != 0 ? buffer->first_ns : bench_clock_ns();
        buffer->length += (size_t)length;
    }
    return length > 0 || (length < 0 && errno == EINTR);
}

/* Reads until the end of the stream; kills the child on an interrupt or at the deadline (then *late is set). */
static char *collect_output(int input, pid_t pid, unsigned timeout_s, uint64_t *first_ns, bool *late) {
    text_buffer buffer = {0};
    uint64_t deadline = bench_clock_ns() + timeout_s * UINT64_C(1000000000);
    bool open = true, killed = false;
    while (open) {
        struct pollfd source = {.fd = input, .events = POLLIN};
        int ready = poll(&source, 1, 200);
        if (ready > 0) {
            open = read_some(input, &buffer);
        }
        *late = *late || (!killed && bench_clock_ns() > deadline);
        if (!killed && (*late || interrupted)) {
            (void)kill(pid, SIGKILL);
            killed = true;
        } else if (killed && ready == 0) {
            open = false; /* somebody else still holds the other end */
        }
    }
    buffer.text = bench_resize(buffer.text, buffer.length + 1, 1);
    buffer.text[buffer.length] = '\0';
    *first_ns = buffer.first_ns;
    return buffer.text;
}

static char *await_end(pid_t pid, unsigned timeout_s, bool late) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        if (interrupted) {
            (void)kill(pid, SIGKILL);
        }
    }
    if (interrupted) {
        return bench_format("was interrupted");
    }
    if (late) {
        return bench_format("did not end within %u s and was killed", timeout_s);
    }
    if (WIFSIGNALED(status)) {
        return bench_format("was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) != 0) {
        return bench_format("ended with status %d", WEXITSTATUS(status));
    }
    return NULL;
}

bench_outcome bench_run_child(const bench_command *command) {
    bench_outcome outcome = {0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        outcome.output = bench_format("%s", "");
        outcome.trouble = bench_format("could not be started: %s", strerror(errno));
        return outcome;
    }
    size_t own = 0;
    char **environment = make_environment(command, &own);
    pid_t pid = 0;
    uint64_t start_ns = 0, first_ns = 0;
    int error = spawn(command, environment, ends[1], &pid, &start_ns);
    free_environment(environment, own);
    (void)close(ends[1]);
    if (error == 0) {
        bool late = false;
        outcome.output = collect_output(ends[0], pid, command->timeout_s, &first_ns, &late);
        outcome.first_output_ms = first_ns != 0 ? (double)(first_ns - start_ns) * 1e-6 : 0;
        outcome.trouble = await_end(pid, command->timeout_s, late);
    } else {
        outcome.output = bench_format("%s", "");
        outcome.trouble = bench_format("could not be started: %s", strerror(error));
    }
    (void)close(ends[0]);
    return outcome;
}

static bool is_inherited(pid_t pid) {
    for (size_t i = 0; i < inherited_children.count; i++) {
        if (inherited_children.pids[i] == pid) {
            return true;
        }
    }
    return false;
}

/* The parent of a process, -1 if it is gone. The name in /proc/PID/stat may hold anything, brackets too. */
static pid_t read_parent(const char *pid) {
    char path[64], line[1024];
    if (strlen(pid) > 20) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return -1;
    }
    size_t length = fread(line, 1, sizeof line - 1, file);
    (void)fclose(file);
    line[length] = '\0';
    const char *bracket = strrchr(line, ')');
    if (bracket == NULL || strlen(bracket) < 5) {
        return -1;
    }
    return (pid_t)strtol(bracket + 4, NULL, 10);
}

/* Up to `capacity` children of this process, of the kind asked for. */
static size_t list_children(pid_t *pids, size_t capacity, bool with_inherited) {
    size_t count = 0;
    DIR *processes = opendir("/proc");
    if (processes == NULL) {
        return 0;
    }
    const struct dirent *entry;
    while (count < capacity && (entry = readdir(processes)) != NULL) {
        int64_t pid = 0;
        if (bench_parse_integer(entry->d_name, 1, INT32_MAX, &pid) && read_parent(entry->d_name) == getpid() &&
            (with_inherited || !is_inherited((pid_t)pid))) {
            pids[count++] = (pid_t)pid;
        }
    }
    (void)closedir(processes);
    return count;
}

void bench_adopt_orphans(void) {
    size_t capacity = sizeof inherited_children.pids / sizeof inherited_children.pids[0];
    inherited_children.count = list_children(inherited_children.pids, capacity, true);
#ifdef PR_SET_CHILD_SUBREAPER
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
#endif
}

/* How many adopted processes are left alive. */
static size_t reap_orphans(pid_t *pids, size_t capacity) {
    size_t count = list_children(pids, capacity, false), alive = 0;
    for (size_t i = 0; i < count; i++) {
        if (waitpid(pids[i], NULL, WNOHANG) == 0) {
            pids[alive++] = pids[i];
        }
    }
    return alive;
}

size_t bench_await_orphans(unsigned limit_s) {
    pid_t pids[64];
    size_t capacity = sizeof pids / sizeof pids[0], killed = 0;
    uint64_t deadline = bench_clock_ns() + limit_s * UINT64_C(1000000000);
    uint64_t give_up = deadline + UINT64_C(10000000000);
    size_t count = reap_orphans(pids, capacity);
    while (count != 0 && bench_clock_ns() < give_up) {
        if (interrupted || bench_clock_ns() >= deadline) {
            killed = killed > count ? killed : count;
            for (size_t i = 0; i < count; i++) {
                (void)kill(pids[i], SIGKILL);
            }
        }
        sleep_ms(20);
        count = reap_orphans(pids, capacity);
    }
    return killed;
}

FILE *bench_take_stdout(void) {
    (void)fflush(stdout);
    int stream = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (stream < 0) {
        return NULL;
    }
    FILE *file = fdopen(stream, "w");
    if (file == NULL) {
        (void)close(stream);
        return NULL;
    }
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    return file;
}
