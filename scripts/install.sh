#!/bin/bash
# Installs the tools with manual pages, completion, units for systemd, the rule for sticks, and the icon of the window.
#
#   scripts/install.sh FOLDER-WITH-THE-TOOLS PREFIX [TOOL]
#
# The files go below DESTDIR. Units name the tools below PREFIX. Without TOOL both tools are installed.
set -euo pipefail
from=${1:?}
prefix=${2:?}
root="${DESTDIR:-}$prefix"
packaging=$(cd "$(dirname "$0")/../packaging" && pwd)

unit() { # unit user|system TOOL
  mkdir -p "$root/lib/systemd/$1"
  sed -e "s|@TOOL@|$2|g" -e "s|@BIN@|$prefix/bin|g" "$packaging/watch-$1.service.in" >"$root/lib/systemd/$1/$2-watch@.service"
}

# The icon on the desktop, and the program that it runs.
icon() {
  mkdir -p "$root/share/applications"
  sed "s|@BIN@|$prefix/bin|g" "$packaging/satchel-window.in" >"$root/bin/satchel-window"
  chmod 755 "$root/bin/satchel-window"
  sed "s|@BIN@|$prefix/bin|g" "$packaging/satchel-window.desktop.in" >"$root/share/applications/satchel-window.desktop"
}

for tool in ${3:-satchel satchel-hub}; do
  install -D -m 755 "$from/$tool" "$root/bin/$tool"
  mkdir -p "$root/share/man/man1" "$root/share/bash-completion/completions" "$root/share/zsh/site-functions" \
    "$root/share/fish/vendor_completions.d"
  "$from/$tool" man >"$root/share/man/man1/$tool.1"
  "$from/$tool" completion bash >"$root/share/bash-completion/completions/$tool"
  "$from/$tool" completion zsh >"$root/share/zsh/site-functions/_$tool"
  "$from/$tool" completion fish >"$root/share/fish/vendor_completions.d/$tool.fish"
  unit user "$tool"
  unit system "$tool"
  if [ "$tool" = satchel ]; then icon; fi
done
install -D -m 644 "$packaging/satchel-stick@.service" "$root/lib/systemd/system/satchel-stick@.service"
install -D -m 644 "$packaging/90-satchel.rules" "$root/lib/udev/rules.d/90-satchel.rules"
