#!/bin/bash
# Has systemd and udev read the units and the rule that were installed, and exits 1 where they find something wrong
# with them. What is not on this machine (systemd-analyze; udevadm, and for one without `verify` also root) is said,
# and not checked.
#
#   scripts/check-units.sh ROOT PREFIX    what install.sh put below ROOT, for PREFIX
set -euo pipefail
root=${1?}
prefix=${2:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

units() { # units user|system
  local folder="$work/$1" unit
  [ -d "$root$prefix/lib/systemd/$1" ] || return 0
  mkdir "$folder"
  # A template is looked at with something to work on, and with the tools where they lie just now.
  for unit in "$root$prefix/lib/systemd/$1/"*@.service; do
    sed "s|$prefix/bin|$root$prefix/bin|g" "$unit" >"$folder/$(basename "$unit" @.service)@x.service"
  done
  # Its part for users wants a folder of theirs, which nobody has who is not logged in.
  if ! XDG_RUNTIME_DIR="$work" systemd-analyze verify --man=no "--$1" "$folder"/*.service 2>"$work/said" || grep -qF "$folder" "$work/said"; then
    cat "$work/said" >&2
    wrong=1
  else
    echo "units for $1: $(ls "$folder" | wc -l) verified"
  fi
}

# What a taken-over service could still do, as systemd counts it: 10 is all, 100 in its tenths.
sandboxes() {
  local unit said
  for unit in "$work"/system/satchel*-watch@x.service; do
    [ -e "$unit" ] || continue
    if said=$(systemd-analyze security --no-pager --offline=yes --threshold=25 "$unit" 2>&1); then
      echo "sandbox: $(basename "$unit"): $(tail -1 <<<"$said" | grep -o '[0-9][0-9.]*' | head -1) of 10"
    else
      echo "$said" | tail -1 >&2
      wrong=1
    fi
  done
}

# As if a loop device were a stick with a file system: what would be done is printed, and nothing is. In a world of
# its own, for udev writes down what it saw.
try_rule() { # try_rule RULES TYPE wanted|unwanted
  local device wants
  device=$(ls -d /sys/class/block/loop* 2>/dev/null | head -1)
  if [ "$(id -u)" -ne 0 ] || [ -z "$device" ] || ! unshare --mount true 2>/dev/null; then
    echo "The rule was not checked: this udevadm has no verify, and trying it takes root and a loop device." >&2
    return
  fi
  RULES=$1 TYPE=$2 DEVICE=$device unshare --mount bash -euc '
    mount -t tmpfs tmpfs /run
    mkdir -p /run/udev/rules.d
    cp "$RULES"/*.rules /run/udev/rules.d/
    echo "KERNEL==\"loop*\", ENV{ID_BUS}=\"usb\", ENV{ID_FS_USAGE}=\"filesystem\", ENV{ID_FS_TYPE}=\"$TYPE\"" >/run/udev/rules.d/89-stick.rules
    mount -t tmpfs tmpfs /dev
    mknod /dev/null c 1 3
    udevadm test --action=add "$DEVICE" 2>&1' >"$work/said" || true
  wants="^SYSTEMD_WANTS=satchel-stick@$(basename "$device").service$"
  if grep -F satchel.rules "$work/said" | grep -v 'Reading rules file' >&2; then
    wrong=1
  elif [ "$3" = wanted ] && ! grep -q "$wants" "$work/said"; then
    echo "The rule does not have a stick mounted; udevadm test says:" >&2
    cat "$work/said" >&2
    wrong=1
  elif [ "$3" = unwanted ] && grep -q "$wants" "$work/said"; then
    echo "The rule has a stick mounted that holds $2." >&2
    wrong=1
  elif [ "$3" = wanted ]; then
    echo "rule: a stick would start satchel-stick@$(basename "$device").service"
  fi
}

if command -v systemd-analyze >/dev/null; then
  units system
  units user
  sandboxes
else
  echo "The units were not checked: there is no systemd-analyze (apt-get install systemd)." >&2
fi
rules="$root$prefix/lib/udev/rules.d"
if [ ! -d "$rules" ]; then
  :
elif ! command -v udevadm >/dev/null; then
  echo "The rule was not checked: there is no udevadm (apt-get install udev)." >&2
elif udevadm verify --help >/dev/null 2>&1; then
  if udevadm verify --resolve-names=never "$rules"/*.rules; then echo "rule: verified"; else wrong=1; fi
else
  try_rule "$rules" vfat wanted
  try_rule "$rules" btrfs unwanted
fi
exit $wrong
