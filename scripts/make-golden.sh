#!/bin/bash
# Makes the golden bundles of the format's newest version, with the keys that verify them and the text of what they
# say. The secret keys are thrown away: nothing can be signed with these keys again.
#
#   scripts/make-golden.sh          into bundles/ and keys/ of this repository, where they must not be yet
#   scripts/make-golden.sh FOLDER   into another folder
set -euo pipefail
cd "$(dirname "$0")/.."
SATCHEL_MAKE_GOLDEN=${1:-.} swift run ${SATCHEL_BUILD:+--scratch-path "$SATCHEL_BUILD"} -q make-golden
