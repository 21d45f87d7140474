/* SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include <stdlib.h>
#include <string.h>

/* Far beyond the slowest first compile seen; a driver that hangs must end some time. */
static const unsigned CHILD_LIMIT_S = 1800;

static json_t *read_outcome(const char *program, const bench_outcome *outcome, bench_failure *failure) {
    json_t *result = json_loads(outcome->output, 0, NULL);
    const char *error = json_string_value(json_object_get(result, "error"));
    if (error != NULL) {
        bench_fail(failure, (int)json_integer_value(json_object_get(result, "status")), "%s", error);
    } else if (outcome->trouble != NULL) {
        bench_fail(failure, 0, "the process %s %s", program, outcome->trouble);
    } else if (result == NULL) {
        bench_fail(failure, 0, "the process %s left no result", program);
    } else {
        return result;
    }
    json_decref(result);
    return NULL;
}

json_t *bench_launch(bench_launcher *launcher, const bench_launch_request *request, bench_failure *failure) {
    bench_environment environment;
    bench_environment_init(&environment, &request->caches);
    const char *program = request->program != NULL ? request->program : launcher->self;
    bench_command command = {
        .variables = environment.variables, .variable_count = environment.count, .timeout_s = CHILD_LIMIT_S};
    size_t count = 0;
    command.arguments[count++] = program;
    if (request->mode != NULL) {
        command.arguments[count++] = request->mode;
    }
    command.arguments[count] = request->text;
    bench_outcome outcome = bench_run_child(&command);
    size_t killed = bench_await_orphans(request->helper_limit_s);
    launcher->helpers_killed += request->helper_limit_s != 0 && !bench_interrupted() ? killed : 0;
    json_t *result = read_outcome(program, &outcome, failure);
    if (result != NULL) {
        (void)json_object_set_new(result, "parent_ms", json_real(outcome.first_output_ms));
    }
    free(outcome.output);
    free(outcome.trouble);
    bench_environment_fini(&environment);
    return result;
}
