#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# PoCL, CLBlast and the ICD loader of the system this runs on: on Debian 12 PoCL 3.1, CLBlast 1.5.3, ocl-icd 2.3.1.
# Usage: pocl.sh COMMAND...
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/stack.sh"
need_command "$@"
"$root/scripts/setup.sh"
use_drivers "$(cat /etc/OpenCL/vendors/pocl.icd)"
exec "$@"
