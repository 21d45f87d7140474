# SPDX-License-Identifier: Apache-2.0
# fish completion. The options are those of --help; only the values that an option takes are listed here.

function __portmm_options
    set -l program (commandline -opc)[1]
    $program --help 2>/dev/null | string match -rag -- '(?:^|[ ,|[])(--[a-z][a-z-]*)'
end

for program in portmm-bench portmm-cache portmm-info
    complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -a '(__portmm_options)'
    complete -c $program -l backend -x -a 'auto all cpu opencl cuda'
    complete -c $program -l engine -x -a 'starter clblast cublas openblas'
    complete -c $program -l dtype -x -a 'f32 f64 f16 bf16 c32 c64'
end
complete -c portmm-bench -l start -x -a 'fast tuned hybrid'
complete -c portmm-bench -l temperature -x -a 'cold driver cached relaunch warm'
complete -c portmm-bench -l fail-on -x -a slower
complete -c portmm-cache -n __fish_use_subcommand -f -a 'path stats list explain verify prune clear prewarm seal import'
complete -c portmm-cache -l shape -x -a 'small medium large tall flat deep vector'
complete -c portmm-cache -l trans -x -a 'nn nt tn tt'
