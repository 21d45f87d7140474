#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: check_includes.sh SOURCE_DIRECTORY
#
# Checks who includes what, where the operating system and the compiler's extensions may be named, and
# that every source names its licence. Then proves itself: each rule is broken once in a copy, and must be reported.
set -u
LC_ALL=C
export LC_ALL

# Headers of C11. Everything else has to be allowed by name.
c_library='(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|tgmath|threads|time|uchar|wchar|wctype)\.h'
cpp_library='[a-z_]+' # <string>, <vector>: for the odd C++ file
public='portmm/(portmm|cache)\.h'
for_backends='portmm/(portmm|backend)\.h'
for_core='portmm/(portmm|backend|cache)\.h'
opencl='(CL/[a-z_]+\.h|clblast(_c)?\.h)'
cuda='(cuda|cudaTypedefs|cuda_runtime_api|cublas_v2|cublasLt|nvrtc|nvml)\.h'
blas='(cblas|openblas/[a-z_]+)\.h'

# Of the files named on standard input, prints each include of a header in <> that is not in the pattern.
check_angles() { # pattern
    xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' /dev/null |
        sed -E 's/^([^:]*:[0-9]+):[^<]*(<[^>]*>).*/\1: may not include \2/' |
        grep -vE " <($1)>\$"
}

# Headers in quotes are files of the folder itself: no way out of it.
check_quotes() { # folder
    list_sources "$1" >"$scratch/files"
    # shellcheck disable=SC2094 # it is only read
    xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null <"$scratch/files" |
        sed -E 's/^([^:]*:[0-9]+):[^"]*"([^"]*)".*/\1 \2/' |
        awk -v folder="$1" '
            NR == FNR { known[$1] = 1; next }
            { directory = $1; sub(/\/[^\/]*$/, "", directory) }
            $2 ~ /^embedded\/[a-z_]+\.h$/ { next } # made by the build, from sources of the folder
            !((directory "/" $2) in known) && !((folder "/" $2) in known) {
                print $1 ": \"" $2 "\" is not a header of " folder
            }' "$scratch/files" -
}

list_sources() { # folder
    [ ! -d "$1" ] || find "$1" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \)
}

# Files that stand between us and the operating system.
is_platform='/platform[a-z_]*\.[ch]$'
is_peer='/peers/'
system='([a-z]+|sys/[a-z]+|net/[a-z]+|linux/[a-z]+)\.h'

check_folder() { # folder, what its files may include
    list_sources "$1" | grep -vE "$is_platform" | check_angles "$c_library|$2"
    list_sources "$1" | grep -E "$is_platform" | check_angles "$c_library|$system|$2"
    check_quotes "$1"
}

# Extensions of a compiler are used through a macro, which has a plain alternative; feature macros of the system are
# set in the platform files.
check_extensions() { # folder
    list_sources "$1" |
        xargs -r grep -nE '__attribute__|__builtin_|__typeof|__extension__|[^_a-z]typeof *\(|#[[:space:]]*pragma GCC' /dev/null |
        grep -vE ':[0-9]+:#[[:space:]]*define ' |
        sed 's/$/   (compiler extension)/'
    list_sources "$1" | grep -vE "$is_platform" |
        xargs -r grep -nE '#[[:space:]]*define[[:space:]]+_(GNU|DEFAULT|BSD|POSIX_C|XOPEN)_SOURCE' /dev/null |
        sed 's/$/   (only in platform files)/'
}

check_licences() {
    for folder in core backend_* blas bench tools tests examples cmake scripts; do
        [ ! -d "$folder" ] || find "$folder" -type f \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cl' \
            -o -name '*.cu' -o -name '*.sh' -o -name '*.py' -o -name '*.cmake' -o -name CMakeLists.txt \)
    done | xargs grep -L 'SPDX-License-Identifier: Apache-2.0' CMakeLists.txt | sed 's/$/: has no SPDX line/'
}

check_all() { # in the top directory; prints what is wrong
    check_folder core "$for_core|zstd\.h|xxhash\.h"
    check_folder backend_cpu "$for_backends|$blas"
    check_folder backend_cl "$for_backends|$opencl|$cpp_library"
    check_folder backend_cuda "$for_backends|$cuda|$cpp_library"
    check_folder blas "$public"
    check_folder tools "$public|getopt\.h|jansson\.h"
    list_sources examples | grep -v '^examples/backend/' | check_angles "$c_library|$public|CL/[a-z_]+\.h|cblas\.h"
    check_folder examples/backend "$for_backends"
    check_quotes examples
    list_sources bench | grep -E "$is_peer" | check_angles "$c_library|$opencl|$cuda|$blas|jansson\.h"
    list_sources bench | grep -vE "$is_platform|$is_peer" | check_angles "$c_library|$public|getopt\.h|jansson\.h"
    list_sources bench | grep -E "$is_platform" | check_angles "$c_library|$system"
    check_quotes bench
    for folder in core backend_cpu backend_cl backend_cuda blas tools examples bench; do
        check_extensions "$folder"
    done
    check_licences
}

# ---- proof ----

# Breaks one rule, in a file of its own, and notes what must be reported of its line 2.
planted=0
plant() { # folder, line, report
    planted=$((planted + 1))
    file=$1/planted_$planted.c
    case $1 in *platform) file=$1_planted.c ;; esac
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n%s\n' "$2" >"$file"
    echo "$file:2:$3" >>"$scratch/expected"
}

break_rules() { # in a copy of the top directory
    plant core '#include <CL/cl.h>' ' may not include <CL/cl.h>'
    plant core '#include <cuda.h>' ' may not include <cuda.h>'
    plant core/cache '  #  include <cblas.h>' ' may not include <cblas.h>'
    plant core '#include <unistd.h>' ' may not include <unistd.h>'
    plant core '#include <sys/stat.h>' ' may not include <sys/stat.h>'
    plant core '#include <pthread.h>' ' may not include <pthread.h>'
    plant core/platform '#include <CL/cl.h>' ' may not include <CL/cl.h>'
    plant core '#include "../backend_cl/opencl.h"' ' "../backend_cl/opencl.h" is not a header of core'
    plant core '#define _GNU_SOURCE' '#define _GNU_SOURCE   (only in platform files)'
    plant core 'static int x __attribute__((unused));' 'static int x __attribute__((unused));   (compiler ext'
    plant backend_cpu '#include "context.h"' ' "context.h" is not a header of backend_cpu'
    plant backend_cpu '#include <CL/cl.h>' ' may not include <CL/cl.h>'
    plant backend_cl '#include <cuda.h>' ' may not include <cuda.h>'
    plant backend_cl '#include <dlfcn.h>' ' may not include <dlfcn.h>'
    plant backend_cuda '#include <CL/cl.h>' ' may not include <CL/cl.h>'
    plant backend_cuda '#include <dlfcn.h>' ' may not include <dlfcn.h>'
    plant backend_cl/clblast '#include "../../core/context.h"' ' "../../core/context.h" is not a header of backend_cl'
    plant examples '#include <portmm/backend.h>' ' may not include <portmm/backend.h>'
    plant examples/backend '#include <portmm/cache.h>' ' may not include <portmm/cache.h>'
    plant examples '#include <unistd.h>' ' may not include <unistd.h>'
    plant bench '#include <portmm/backend.h>' ' may not include <portmm/backend.h>'
    plant bench '#include <spawn.h>' ' may not include <spawn.h>'
    plant bench '#include "context.h"' ' "context.h" is not a header of bench'
    plant bench/peers '#include <portmm/portmm.h>' ' may not include <portmm/portmm.h>'
    plant blas '#include <portmm/backend.h>' ' may not include <portmm/backend.h>'
    plant blas '#include <dlfcn.h>' ' may not include <dlfcn.h>'
    plant tools '#include "../core/context.h"' ' "../core/context.h" is not a header of tools'
    sed -i '/SPDX/d' core/config.c
    echo 'core/config.c: has no SPDX line' >>"$scratch/expected"
}

cd "$1" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
found=$(check_all)
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi
copy=$scratch/copy
mkdir "$copy"
for folder in CMakeLists.txt core backend_* blas bench tools tests examples cmake scripts; do
    [ ! -e "$folder" ] || cp -R "$folder" "$copy"
done
cd "$copy" || exit 2
break_rules
check_all >"$scratch/reports"
while read -r report; do
    if ! grep -qF "$report" "$scratch/reports"; then
        echo "not reported: $report"
        exit 1
    fi
done <"$scratch/expected"
echo "the include rules hold; each of $(wc -l <"$scratch/expected") planted faults is reported"
