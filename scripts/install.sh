#!/bin/bash
# Installs both tools with their manual pages and completion: install.sh FOLDER-WITH-THE-TOOLS PREFIX
set -euo pipefail
from=${1:?}
prefix=${2:?}
for tool in satchel satchel-hub; do
  install -D -m 755 "$from/$tool" "$prefix/bin/$tool"
  mkdir -p "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" "$prefix/share/zsh/site-functions" \
    "$prefix/share/fish/vendor_completions.d"
  "$from/$tool" man >"$prefix/share/man/man1/$tool.1"
  "$from/$tool" completion bash >"$prefix/share/bash-completion/completions/$tool"
  "$from/$tool" completion zsh >"$prefix/share/zsh/site-functions/_$tool"
  "$from/$tool" completion fish >"$prefix/share/fish/vendor_completions.d/$tool.fish"
done
