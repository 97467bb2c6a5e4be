/// The output of `bag help`.
let toolHelp = """
  bag - carries things where there is no network

  Usage: bag [-C DIR] COMMAND ...

  Commands:
    status            what is in the bag
    pack              puts things into the bag

    user add          makes a user
    user list         who there is

    conflicts         conflicts that are not settled
    conflicts show    one of them

    device provision  makes a device
    refuse            throws
    judge             throws a usage error

  Options of every command:
    -C, --directory DIR       work in DIR, not in the current folder
        --password-file FILE  take the keys' password from the first line of FILE
        --json                print one JSON document, on failure too
    -q, --quiet               print nothing but errors
    -h, --help                print this help and do nothing
        --version             print the version and do nothing

  Read 'bag help COMMAND' for one command, with examples.

  """

/// The output of `bag help pack`.
let packHelp = """
  bag pack - puts things into the bag

  Usage: bag pack [--to PATH] [--fold] [--label NAME=VALUE]... THING... POCKET

  Puts each THING into the bag, in the order given, and prints what it weighs
  then. A thing that is in the bag already is left as it is.

  A bag that is too heavy is refused whole:
    nothing is put into it.

  Arguments:
    THING   what to carry
    POCKET  where to put it

  Options:
    -t, --to PATH             the bag, if it is not the one that hangs at the
                              door, which it nearly always is
        --fold                fold them first
        --label NAME=VALUE    what to write on it (may be repeated)
        --dry-run             say what would happen and change nothing
    -C, --directory DIR       work in DIR, not in the current folder
        --password-file FILE  take the keys' password from the first line of FILE
        --json                print one JSON document, on failure too
    -q, --quiet               print nothing but errors
    -h, --help                print this help and do nothing

  Examples:
    bag pack shirt sock --fold left
        Puts a folded shirt and a folded sock into the left pocket.
    bag pack --label owner=asha --label season=winter shirt sock hat scarf \\
      gloves left
        Labels what it packs.

  Exit codes:
    0  done
    1  failed, nothing changed
    2  wrong usage
    3  a bundle was refused, with its reason
    4  busy: another command works on this workspace
    5  done in part: the messages say what is missing

  """
