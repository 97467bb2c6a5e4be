#!/bin/bash
# Makes satchel_VERSION_ARCH.deb and satchel-hub_VERSION_ARCH.deb of static tools, which need no other package, and
# tries them: installs both into an empty root, lets the tools work there, and removes them. The hub's package needs
# the other one, which has the rule for sticks.
#
#   scripts/deb.sh FOLDER-WITH-THE-TOOLS FOLDER-FOR-THE-PACKAGES
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
from=$(cd "${1:?}" && pwd)
mkdir -p "${2:?}"
to=$(cd "$2" && pwd)
version=$("$from/satchel" --version | cut -d ' ' -f 2)
architecture=$(dpkg --print-architecture)
# The same sources give the same packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

describe() { # describe TOOL
  if [ "$1" = satchel ]; then
    echo "Description: keep a device's SQLite database in step with its hub, without a network"
  else
    echo "Depends: satchel (= $version)"
    echo "Description: merge what devices bring, and give each user's device its rows"
  fi
  cat <<'END'
 Satchel keeps SQLite databases in step where there is no network. What changed on
 a device leaves as one signed file on a stick; a hub merges it, keeps every
 disagreement, and writes back for each user exactly the rows that this user may see.
END
}

# Has systemd and udev look at what came or went; not where the package is put into another root.
reload() {
  cat <<'END'
#!/bin/sh
set -e
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
  udevadm control --reload || true
fi
END
}

package() { # package TOOL
  local tool=$1 root="$work/$1"
  file "$from/$tool" | grep -q 'statically linked' || { echo "$from/$tool is not static: make static makes it" >&2; exit 1; }
  DESTDIR="$root" "$top/scripts/install.sh" "$from" /usr "$tool"
  if [ "$tool" != satchel ]; then rm -r "$root/usr/lib/udev" "$root/usr/lib/systemd/system/satchel-stick@.service"; fi
  "$top/scripts/check-units.sh" "$root" /usr
  # Where Debian's zsh looks.
  mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
  gzip -9n "$root/usr/share/man/man1/$tool.1"
  install -D -m 644 "$top/LICENSE" "$root/usr/share/doc/$tool/copyright"
  install -D -m 644 "$top/CHANGELOG.md" "$root/usr/share/doc/$tool/changelog"
  gzip -9n "$root/usr/share/doc/$tool/changelog"
  mkdir "$root/DEBIAN"
  {
    printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$tool" "$version" "$architecture"
    echo "Maintainer: $(git -C "$top" log -1 --format='%an <%ae>')"
    printf 'Section: database\nPriority: optional\nInstalled-Size: %s\n' "$(du -sk --exclude=DEBIAN "$root" | cut -f 1)"
    describe "$tool"
  } >"$root/DEBIAN/control"
  for script in postinst postrm; do
    reload >"$root/DEBIAN/$script"
    chmod 755 "$root/DEBIAN/$script"
  done
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  chmod -R u+rwX,go+rX,go-w "$root"
  dpkg-deb --root-owner-group --build "$root" "$to/${tool}_${version}_$architecture.deb"
}

try() {
  local root="$work/root" left
  mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers} "$root/tmp"
  touch "$root/var/lib/dpkg/status"
  dpkg() { command dpkg --root="$root" --force-not-root --force-script-chrootless --log="$work/dpkg.log" "$@" >/dev/null; }
  dpkg --install "$to"/satchel{,-hub}"_${version}_$architecture.deb"
  for tool in satchel satchel-hub; do
    "$root/usr/bin/$tool" --version >/dev/null
    gzip -t "$root/usr/share/man/man1/$tool.1.gz"
    [ -s "$root/usr/lib/systemd/user/$tool-watch@.service" ]
  done
  [ -s "$root/usr/lib/udev/rules.d/90-satchel.rules" ]
  [ -x "$root/usr/bin/satchel-window" ]
  [ -s "$root/usr/share/applications/satchel-window.desktop" ]
  dpkg --remove satchel-hub satchel
  left=$(find "$root" -path "$root/var/lib/dpkg" -prune -o \( -type f -o -type l \) -print)
  [ -z "$left" ] || { echo "Removing the packages leaves: $left" >&2; exit 1; }
}

package satchel
package satchel-hub
if [ "$(id -u)" -eq 0 ]; then
  try
else
  echo "The packages were not tried: installing into a root of their own takes root." >&2
fi
