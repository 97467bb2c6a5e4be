# For recipes. Says what is to be so, and ends the recipe where it is not.
#
#   expect 'the office has both visits' office.sqlite 'SELECT count(*) FROM visits' 2
expect() {
  local found
  found=$(sqlite3 "$2" "$3")
  if [ "$found" != "$4" ]; then
    printf 'NOT SO: %s\n  found:    %s\n  expected: %s\n' "$1" "$found" "$4" >&2
    exit 1
  fi
  printf 'So it is: %s\n' "$1"
}

# Carries a stick around as a courier does: twice from these devices to the hub, and back at last.
#
#   courier hill lake
courier() {
  local device round
  mkdir stick
  for round in 1 2; do
    for device in "$@"; do satchel -C "$device" sync "$PWD/stick"; done
    satchel-hub -C hub sync "$PWD/stick"
  done
  for device in "$@"; do satchel -C "$device" sync "$PWD/stick"; done
}
