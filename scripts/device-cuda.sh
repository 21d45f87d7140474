#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests and timings on a machine that has an NVIDIA GPU, its driver, cuBLAS and little else. `pack` builds here and makes
# a bundle of the programs and of the libraries that such a machine lacks; `run` uses it there, in a copy of this tree.
# Usage: device-cuda.sh pack             writes build/device-cuda
#        device-cuda.sh run STAGE...     writes into $OUT (build/device-cuda-results): see the stages
# Stages:
#   smoke       what libportmm finds; conformance and queues on CUDA; a short measurement
#   suite       every test, where one of CUDA may not be skipped
#   sanitizer   compute-sanitizer on the conformance test
#   bench       first results under each policy, beside the peers; how much loading cuBLAS disturbs
#   warm        steady products beside raw cuBLAS: 256, 1000, 1024, 4096, f32 and f64
#   bounds      the figures of $OUT against what they have to be
# A step that fails, or takes longer than its limit, does not keep the next from running; each ends with a line.
set -u
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
bundle=$root/build/device-cuda

# ---- pack ----

# The libraries that the programs take from the system, without the C library and what every GPU machine has.
list_libraries() {
    {
        find "$bundle" -type f -exec ldd {} + 2>/dev/null | sed -n 's/^\t[^ ]* => \(\/[^ ]*\).*/\1/p' |
            grep -E 'clblast|OpenCL|openblas|gfortran|quadmath|xxhash|zstd|jansson|subunit'
        gcc -print-file-name=libopenblas.so.0
    } | awk -F/ '!seen[$NF]++'
}

# copy_build PRESET: what programs and CTest need at run time of build/PRESET.
copy_build() {
    mkdir -p "$bundle/$1"
    (cd "$root/build/$1" && find . \( -name CMakeFiles -o -name test-files -o -name deb -o -name consumer \) -prune -o \
        -type f ! -name '*.o' ! -name '*.a' ! -name '.ninja*' ! -name 'build.ninja' ! -name code.c \
        ! -name 'binary_*' ! -name 'text_*' -print0 -o -type l -print0 | tar -c --null -T - -f -) |
        tar -x -C "$bundle/$1"
    find "$bundle/$1" -type f -exec sh -c 'for f; do
        if [ "$(head -c 4 "$f" | tail -c 3)" = ELF ]; then strip --strip-debug "$f"; fi; done' sh {} + 2>/dev/null
}

pack() {
    local preset
    set -e
    for preset in release "test"; do
        (cd "$root" && cmake --preset "$preset" -DPORTMM_BACKEND_CUDA=ON >&2)
        build "$preset"
    done
    rm -rf "$bundle"
    mkdir -p "$bundle/system"
    copy_build release
    copy_build "test"
    list_libraries | xargs -r cp -Lt "$bundle/system"
    strip --strip-debug "$bundle"/system/*
    printf '%s\n' "$root" >"$bundle/origin"
    say "$(du -sh "$bundle" | cut -f 1) in $bundle"
}

# ---- run ----

# The programs know the folder that they were built in, so it has to lead here.
restore_places() {
    local origin preset
    origin=$(cat "$bundle/origin") || fail "there is no bundle: run '$0 pack' where it can be built"
    for preset in release "test"; do
        [ -e "$root/build/$preset" ] || ln -s "$bundle/$preset" "$root/build/$preset"
    done
    if [ ! -e "$origin" ]; then
        mkdir -p "$(dirname "$origin")" && ln -s "$root" "$origin"
    fi
    [ "$(realpath "$origin")" = "$(realpath "$root")" ] || fail "$origin, where it was built, is something else here"
}

# The folder of cuBLAS: the system's, the toolkit's, or a Python package's; nothing where the system finds it.
find_cublas() {
    local folder
    ldconfig -p | grep -q 'libcublas\.so\.1[23] ' && return
    for folder in /usr/local/cuda/lib64 /usr/local/cuda/targets/*/lib \
        "$(python3 -c 'import nvidia.cu13 as p; print(list(p.__path__)[0] + "/lib")' 2>/dev/null)" \
        "$(python3 -c 'import nvidia.cublas as p; print(list(p.__path__)[0] + "/lib")' 2>/dev/null)"; do
        if ls "$folder"/libcublas.so.1[23] >/dev/null 2>&1; then
            printf '%s\n' "$folder"
            return
        fi
    done
    say "no cuBLAS is found"
}

# note TEXT...: into the log and out
note() {
    printf '%s: %s\n' "$self" "$*" | tee -a "$log"
}

# step NAME SECONDS COMMAND...: keeps the end of what it prints, and shows the last lines if it fails. The command may be a
# function of this script.
step() {
    local name=$1 limit=$2 code=0 begin=$SECONDS text
    shift 2
    text=$(mktemp "$scratch/step.XXXXXX")
    timeout -k 10 "$limit" bash -c '"$@"' "$self" "$@" >"$text" 2>&1 </dev/null || code=$?
    { printf '\n==== %s: %s\n' "$name" "$*" && tail -c 1500000 "$text"; } >>"$log"
    case $code in
        0) note "$name: fine, $((SECONDS - begin)) s" ;;
        124 | 137) note "$name: STOPPED after $limit s" && tail -n 8 "$text" ;;
        *) note "$name: FAILED with $code, $((SECONDS - begin)) s" && tail -n "${shown:-12}" "$text" ;;
    esac
    return "$code"
}

describe_machine() {
    nvidia-smi
    nvidia-smi --query-gpu=name,driver_version,compute_cap,clocks.sm,clocks.max.sm,persistence_mode --format=csv
    nproc
    uname -a
    ldconfig -p | grep -E 'libcuda\.|libcublas|libOpenCL'
    printf 'cuBLAS in %s\n' "${cublas:-the system}"
    python3 --version
}

stage_smoke() {
    step machine 60 describe_machine
    step info 60 "$programs/portmm-info"
    sed -n '/^==== info/,$p' "$log"
    shown=40 step conformance 150 "$tests/test_conformance" cuda
    shown=40 step queues 60 "$tests/test_queues" cuda
    shown=40 step api 60 "$tests/test_api" cuda
    step ptx 100 env PORTMM_CUDA_CODE=ptx CUDA_CACHE_DISABLE=1 CK_RUN_CASE=products "$tests/test_conformance" cuda
    step short 100 "$programs/portmm-bench" --backend cuda --samples 3 --runs 2 --explain
    sed -n '/^==== short/,$p' "$log"
}

stage_suite() {
    step suite "${SUITE_LIMIT:-420}" ctest --test-dir "$root/build/test" -j 8 --timeout 240 --output-on-failure \
        --no-tests=error
    sed -n '/tests passed/,$p' "$log" | tail -n 60
}

# The kernels of cuBLAS are not ours: only memcheck, which also guards our calls of it, looks at them.
stage_sanitizer() {
    local tool
    for tool in memcheck racecheck initcheck; do
        local options=(--tool "$tool" --error-exitcode 9 --print-limit 30)
        [ "$tool" = memcheck ] || options+=(--kernel-name "regex=^gemm_[0-9]+x[0-9]+")
        step "$tool" "${SANITIZER_LIMIT:-165}" env CK_RUN_CASE=products compute-sanitizer "${options[@]}" \
            "$tests/test_conformance" cuda
    done
    grep -E '========= (ERROR|RACECHECK|LEAK) SUMMARY|========= .*(Invalid|Uninitialized|hazard)' "$log" | sort | uniq -c | head -n 40
}

# Without the Python frameworks, which take seconds for each process.
make_lean_programs() {
    lean=$scratch/lean
    mkdir -p "$lean"
    cp "$programs"/portmm-bench "$programs"/portmm-peer-cublas "$lean/"
}

bench() {
    local name=$1 limit=$2
    shift 2
    step "bench-$name" "$limit" "$@" --samples "${SAMPLES:-11}" --json "$OUT/$name.json"
}

measure_disturbance() {
    local how number
    for how in helper thread; do
        for number in 1 2 3 4 5 6 7 8 9 10; do
            printf '%s %s\n' "$how" "$number"
            PORTMM_CACHE_DIR=$scratch/disturbance-$how-$number "$tests/measure_disturbance" cuda "$how"
        done
    done
}

stage_bench() {
    bench fast 300 "$programs/portmm-bench" --backend cuda --peers --temperature cold,driver,cached,relaunch,warm --explain
    bench hybrid 60 "$programs/portmm-bench" --backend cuda --start hybrid --runs 0 --temperature cold,relaunch
    bench cpu 60 "$programs/portmm-bench" --backend cpu --runs 0 --temperature cold,relaunch
    bench ptx 60 env PORTMM_CUDA_CODE=ptx "$programs/portmm-bench" --backend cuda --runs 0 --temperature cold,cached
    bench tuned 60 "$programs/portmm-bench" --backend cuda --start tuned --runs 0 --temperature cold,relaunch
    step disturbance 60 measure_disturbance
    sed -n '/^==== disturbance/,$p' "$log"
}

stage_warm() {
    make_lean_programs
    local dtype
    for dtype in f32 f64; do
        bench "warm-$dtype" 150 "$lean/portmm-bench" --backend cuda --peers --runs 0 --temperature warm --dtype "$dtype" \
            --size 256,1000,1024,4096
    done
}

stage_bounds() {
    step bounds 30 python3 "$root/scripts/device-cuda-bounds.py" "$OUT"
    sed -n '/^==== bounds/,$p' "$log"
}

run() {
    local stage
    OUT=$(realpath -m "${OUT:-$root/build/device-cuda-results}")
    mkdir -p "$OUT"
    log=$OUT/log.txt
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/device-cuda.XXXXXX")
    programs=$root/build/release/bin tests=$root/build/test/bin
    restore_places
    cublas=$(find_cublas)
    export LD_LIBRARY_PATH=$bundle/system${cublas:+:$cublas}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export CUDA_CACHE_PATH=$scratch/nv PORTMM_CACHE_DIR=$scratch/portmm PORTMM_TEST_REQUIRE=cuda PYTHONUNBUFFERED=1
    unset CUDA_CACHE_DISABLE
    export cublas scratch tests
    export -f describe_machine measure_disturbance
    for stage; do
        note "stage $stage"
        case $stage in
            smoke | suite | sanitizer | bench | warm | bounds) "stage_$stage" ;;
            *) note "there is no stage $stage" ;;
        esac
    done
    rm -rf "$scratch"
    grep -E "^$self: .*(fine|FAILED|STOPPED)" "$log"
}

case ${1:-} in
    pack) pack ;;
    run)
        [ $# -ge 2 ] || fail "name a stage"
        shift && run "$@"
        ;;
    *) sed -n '3,/^set /s/^# //p' "$0" >&2 && exit 2 ;;
esac
