#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Intel's OpenCL runtime for processors and the Khronos ICD loader (with layers and ICD 2.0) that comes with it, both
# from PyPI: half a GB to download, 1 GB unpacked. CLBlast is the system's.
# Usage: intel.sh COMMAND...
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/stack.sh"
need_command "$@"
"$root/scripts/setup.sh"
folder=$stacks/intel
if [ ! -e "$folder/.complete" ]; then
    install python3-venv
    rm -rf "$folder"
    python3 -m venv "$folder"
    # The second one holds libsvml.so, which the loader is linked with.
    "$folder/bin/pip" install -q intel-opencl-rt intel-cmplr-lib-rt >&2 || fail "pip failed in $folder"
    touch "$folder/.complete"
fi
use_drivers "$folder/lib/libintelocl.so"
export LD_LIBRARY_PATH=$folder/lib
exec "$@"
