#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: check_headers.sh INCLUDE_DIRECTORY C_COMPILER [CXX_COMPILER]
#
# Compiles every public header alone, as C11 and as C++17, twice in one unit, with all warnings as errors. Then proves
# itself: headers with a fault each must be refused.
set -u
include=$1 c_compiler=$2 cxx_compiler=${3:-}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

compile() { # include directory, header, compiler, language, standard
    printf '#include <%s>\n#include <%s>\n' "$2" "$2" |
        "$3" -x "$4" "-std=$5" -I "$1" -Wall -Wextra -Wstrict-prototypes -pedantic -Werror -fsyntax-only - 2>&1
}

compile_cxx() { # -Wstrict-prototypes is for C only
    printf '#include <%s>\n#include <%s>\n' "$2" "$2" |
        "$3" -x c++ -std=c++17 -I "$1" -Wall -Wextra -pedantic -Werror -fsyntax-only - 2>&1
}

check() { # include directory; prints what the compilers say
    (cd "$1" && find . -name '*.h') | sed 's|^\./||' | while read -r header; do
        compile "$1" "$header" "$c_compiler" c c11 || echo "$header: not C11"
        if [ -n "$cxx_compiler" ]; then
            compile_cxx "$1" "$header" "$cxx_compiler" || echo "$header: not C++17"
        fi
    done
}

found=$(check "$include")
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi

refuse() { # text of a header that must be refused
    mkdir -p "$scratch/include"
    printf '%s\n' "$1" >"$scratch/include/planted.h"
    [ -n "$(check "$scratch/include")" ] || echo "not refused: $1"
}
missed=$(
    refuse 'size_t needs_stddef(void);'
    refuse 'static inline int twice(void) { return 1; }'
    refuse 'void old_style();'
    refuse 'typedef enum { A = 1, B, } trailing; struct { int x; };'
    [ -z "$cxx_compiler" ] || refuse 'int uses_a_keyword(int class);'
)
if [ -n "$missed" ]; then
    echo "$missed"
    exit 1
fi
echo "the public headers compile alone${cxx_compiler:+, also as C++}"
