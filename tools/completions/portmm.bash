# SPDX-License-Identifier: Apache-2.0
# bash completion for portmm-bench, portmm-cache and portmm-info. The options are those of their --help; only the values
# that an option takes are listed here.

_portmm_values() { # option
    case $1 in
        --backend) echo auto all cpu opencl cuda ;;
        --engine) echo starter clblast cublas openblas ;;
        --start) echo fast tuned hybrid ;;
        --temperature) echo cold driver cached relaunch warm ;;
        --dtype) echo f32 f64 f16 bf16 c32 c64 ;;
        --shape) echo small medium large tall flat deep vector ;;
        --trans) echo nn nt tn tt ;;
        --transa | --transb) echo n t ;;
        --fail-on) echo slower ;;
        *) return 1 ;;
    esac
}

_portmm_commands() { # program
    case $1 in
        *portmm-cache) echo path stats list explain verify prune clear prewarm seal import ;;
    esac
}

_portmm() {
    local program=$1 word=${2-} before=${3-} choices
    COMPREPLY=()
    if choices=$(_portmm_values "$before"); then
        # a list: complete what stands behind the last comma
        local head=
        case $word in *,*) head=${word%,*}, word=${word##*,} ;; esac
        mapfile -t COMPREPLY < <(compgen -P "$head" -W "$choices" -- "$word")
    elif [ "${word#-}" != "$word" ]; then
        choices=$("$program" --help 2>/dev/null | grep -oE -- '(^|[ ,|[])--[a-z][a-z-]*' | tr -d ' ,|[' | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    elif [ "$COMP_CWORD" = 1 ] && choices=$(_portmm_commands "$program") && [ -n "$choices" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    fi
}

# -o default: files where nothing above applies
complete -o default -F _portmm portmm-bench portmm-cache portmm-info
