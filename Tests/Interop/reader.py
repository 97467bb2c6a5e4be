#!/usr/bin/env python3
"""A reader of Satchel bundles, written from docs/FORMAT.md alone; the sections named below are that page's.

    reader.py [-k KEY.pub]... [-i IDENTITIES] FILE...

Prints a bundle as text of one canonical form, or says on stderr why it is refused and ends with 3. Several FILEs are the volumes
of one bundle, in any order: they are joined, and the bundle that they make is printed.
-k names a minisign public key that is trusted; without any it is a first contact, with the key that the bundle itself names.
-i names a file with age identities (AGE-SECRET-KEY-1...), for files that are encrypted.

It needs Python 3.11 and, beside its standard library, PyNaCl and zstandard.
"""

import argparse
import base64
import contextlib
import dataclasses
import hashlib
import hmac
import json
import math
import os
import re
import sqlite3
import struct
import sys
import tempfile
import unicodedata

import nacl.bindings
import nacl.exceptions
import zstandard

NAMES = ["B2SUMS.minisig", "B2SUMS", "manifest.json", "changes.jsonl", "resolutions.jsonl", "conflicts.jsonl", "dataset.json",
         "migrations.jsonl", "snapshot.sqlite", "part", "files.sqlite", "attachments.jsonl", "state.json"]
BLOB = re.compile("blobs/[0-9a-f]{64}")
LINES = ["changes.jsonl", "resolutions.jsonl", "conflicts.jsonl"]

KIB, MIB, GIB = 2**10, 2**20, 2**30
LARGEST = {"B2SUMS.minisig": 2 * KIB, "B2SUMS": 256 * KIB, "manifest.json": MIB, "dataset.json": MIB}
LARGEST_ENTRY = 64 * GIB  # of all others
LARGEST_BLOB = 4 * GIB - 1
MOST_BLOBS = 1_000
LARGEST_AGE_HEADER = 64 * KIB
LARGEST_WINDOW = 8 * MIB
LARGEST_LINE = 64 * MIB
LARGEST_SCRIPT = 256 * KIB
LARGEST_STATE = 16 * MIB
MOST_ROWS = 100_000
MOST_MEMBERS = 1_000_000
DEEPEST = 16
LARGEST_COUNT = 2**53 - 1

NO_STAMP = "0" * 16
NO_HUB = {"id": "00000000-0000-4000-8000-000000000000", "name": "hub"}
NEWER = "a newer version made it"


class Refused(Exception):
    pass


def refuse(why):
    raise Refused(why)


def must(truth, why):
    if not truth:
        raise Refused(why)


def is_name(name):
    return name in NAMES or BLOB.fullmatch(name) is not None


def in_order(names):
    """Whether names are in the container's order, each once."""
    ranks = [(NAMES.index(name) if name in NAMES else len(NAMES), name) for name in names]
    return all(one < other for one, other in zip(ranks, ranks[1:]))


class Stream:
    """The bytes of an iterator of pieces, in the sizes that are asked for."""

    def __init__(self, pieces):
        self.pieces, self.piece, self.place = iter(pieces), b"", 0

    def some(self, most):
        """As many bytes as asked for; fewer only at the end."""
        found = bytearray()
        while len(found) < most:
            if self.place == len(self.piece):
                self.piece, self.place = next(self.pieces, None), 0
                if self.piece is None:
                    self.piece = b""
                    break
            taken = self.piece[self.place:self.place + most - len(found)]
            self.place += len(taken)
            found += taken
        return bytes(found)

    def take(self, size):
        found = self.some(size)
        must(len(found) == size, "truncated")
        return found


def pieces_of(file):
    return iter(lambda: file.read(64 * KIB), b"")


def unbase64(text):
    """Base64 with padding, without line breaks and stray bits."""
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Refused("base64") from error
    must(base64.b64encode(content) == (text.encode("ascii") if isinstance(text, str) else text), "base64")
    return content


# Encryption: age-encryption.org/v1, for X25519 alone (section 1)

BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
AGE = b"age-encryption.org/v1"


def bech32_sum(values):
    total = 1
    for value in values:
        top, total = total >> 25, (total & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            total ^= generator if top >> bit & 1 else 0
    return total


def unbech32(text, prefix):
    """The 32 bytes that a lower-case bech32 text of this prefix holds."""
    # 32 bytes are 52 characters and four bits over, which are zero; six characters of checksum follow.
    must(re.fullmatch(f"{prefix}1[{BECH32}]{{58}}", text), f"not of the form {prefix}1...")
    values = [BECH32.index(character) for character in text[len(prefix) + 1:]]
    expanded = [ord(character) >> 5 for character in prefix] + [0] + [ord(character) & 31 for character in prefix]
    must(bech32_sum(expanded + values) == 1, f"checksum of {prefix}1...")
    number = 0
    for item in values[:52]:
        number = number << 5 | item
    must(number & 15 == 0, f"padding of {prefix}1...")
    return (number >> 4).to_bytes(32, "big")


def read_identities(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    secrets = [line for line in lines if line and not line.startswith("#")]
    must(all(line.isupper() for line in secrets), f"{path} holds no identities")
    return [unbech32(line.lower(), "age-secret-key-") for line in secrets]


def hkdf(secret, salt, info):
    """HKDF-SHA-256 (RFC 5869) of 32 bytes, which is one round."""
    return hmac.digest(hmac.digest(salt, secret, "sha256"), info + b"\x01", "sha256")


def unseal(key, nonce, sealed):
    """ChaCha20-Poly1305, or None where the key does not fit."""
    try:
        return nacl.bindings.crypto_aead_chacha20poly1305_ietf_decrypt(sealed, None, nonce, key)
    except nacl.exceptions.CryptoError:
        return None


def bare_base64(text):
    must(b"=" not in text, "base64 in the age header")
    return unbase64(text + b"=" * (-len(text) % 4))


def age_header(sealed):
    """The header's lines, up to the one with its authenticator."""
    lines, size = [], 0
    while not lines or not lines[-1].startswith(b"---"):
        line = bytearray()
        while not line.endswith(b"\n"):
            must(size < LARGEST_AGE_HEADER, "age header too large")
            line += sealed.take(1)
            size += 1
        lines.append(bytes(line[:-1]))
    return lines


def age_stanzas(lines):
    """The header's stanzas, as pairs of arguments and body."""
    must(lines, "an age header without recipients")
    place, stanzas = 0, []
    while place < len(lines):
        must(re.fullmatch(rb"->( [!-~]+)+", lines[place]), "age header")
        words, body = lines[place].split(b" ")[1:], []
        place += 1
        # A body is cut into lines of 64 characters; the last one is shorter, and is there even if it is empty.
        while not body or len(body[-1]) == 64:
            must(place < len(lines) and len(lines[place]) <= 64, "age header")
            body.append(lines[place])
            place += 1
        stanzas.append((words, bare_base64(b"".join(body))))
    return stanzas


def file_keys(stanzas, secrets):
    """The file keys that these secrets find in the stanzas. Stanzas of unknown types are passed over, as age demands."""
    for words, body in stanzas:
        must(words[0] != b"scrypt", "encrypted with a passphrase")
        if words[0] != b"X25519":
            continue
        share = bare_base64(words[1]) if len(words) == 2 else b""
        must(len(share) == 32 and len(body) == 32, "X25519 stanza")
        for secret in secrets:
            try:
                shared = nacl.bindings.crypto_scalarmult(secret, share)
            except nacl.exceptions.RuntimeError as error:  # a point of small order, by which all would share one secret
                raise Refused("X25519 share") from error
            salt = share + nacl.bindings.crypto_scalarmult_base(secret)
            found = unseal(hkdf(shared, salt, AGE + b"/X25519"), bytes(12), body)
            if found is not None:
                yield found


def decrypted(sealed, secrets):
    must(secrets, "encrypted, and there is no identity")
    lines = age_header(sealed)
    must(lines[0] == AGE, "age version")
    file_key = next(file_keys(age_stanzas(lines[1:-1]), secrets), None)
    must(file_key is not None, "encrypted for another recipient")
    mac = hmac.digest(hkdf(file_key, b"", b"header"), b"\n".join(lines[:-1] + [b"---"]), "sha256")
    must(lines[-1].startswith(b"--- ") and hmac.compare_digest(bare_base64(lines[-1][4:]), mac), "the age header's authenticator")
    key = hkdf(file_key, sealed.take(16), b"payload")
    # Chunks of 64 KiB and 16 bytes of authenticator. The nonce counts them and says which one is the last.
    number, chunk = 0, sealed.some(64 * KIB + 16)
    while chunk:
        following = sealed.some(64 * KIB + 16)
        plain = unseal(key, number.to_bytes(11, "big") + bytes([not following]), chunk) if len(chunk) > 16 else None
        must(plain is not None, "damaged or truncated encryption")
        yield plain
        number, chunk = number + 1, following


# Compression (section 1)

ZSTD = b"\x28\xb5\x2f\xfd"


def unpacked(packed):
    """The content of one zstd frame, with nothing behind it."""
    try:
        piece = packed.some(18)  # the longest header of a frame
        must(piece.startswith(ZSTD), "no zstd")
        # Looked up here too, as the library does not look at the window of a frame that fits into one piece.
        must(zstandard.get_frame_parameters(piece).window_size <= LARGEST_WINDOW, "a window of more than 8 MiB")
        frame = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW).decompressobj()
        while piece:
            yield frame.decompress(piece)
            if frame.eof:
                must(not frame.unused_data and not packed.some(1), "bytes behind the zstd frame")
                return
            # Four bytes can produce a block of 128 KiB, so 256 bytes produce at most 8 MiB.
            piece = packed.some(256)
    except zstandard.ZstdError as error:
        raise Refused(f"zstd: {error}") from error
    raise Refused("truncated")


# Container (section 1)


def tar_size(field):
    if field[0] == 0x80:  # GNU's binary form
        return int.from_bytes(field[1:], "big")
    digits = re.fullmatch(rb"([0-7]+)[ \0]*", field)
    must(digits, "size in the tar")
    return int(digits[1], 8)


def tar_header(block):
    """The type and the size that a header of either kind gives."""
    total = sum(block[:148]) + 8 * ord(" ") + sum(block[156:])
    must(block[257:265] in (b"ustar\x0000", b"ustar  \0"), "no tar")
    must(re.fullmatch(rb"[0-7]{6}\0 ", block[148:156]) and int(block[148:154], 8) == total, "checksum in the tar")
    return block[156:157], tar_size(block[124:136])


def pax_size(records):
    """The size that a pax header sets, or None."""
    size = None
    while records:
        match = re.match(rb"([1-9][0-9]{0,3}) (size|mtime|atime|ctime)=", records)
        must(match, "pax header")
        record, records = records[:int(match[1])], records[int(match[1]):]
        must(len(record) == int(match[1]) > match.end() and record.endswith(b"\n"), "pax header")
        if match[2] == b"size":
            digits = record[match.end():-1]
            must(size is None and re.fullmatch(rb"[0-9]{1,20}", digits), "pax header")
            size = int(digits)
    return size


def next_entry(tar):
    """Name and size of the next entry, whose content follows; None at the tar's end, which is read to its last byte."""
    block = tar.take(512)
    if not any(block):
        check_end(tar)
        return None
    kind, size = tar_header(block)
    if kind == b"x":
        must(size <= 1024, "pax header too large")
        over = pax_size(tar.take(size))
        skip_padding(tar, size)
        block = tar.take(512)
        kind, size = tar_header(block)
        size = size if over is None else over
    name = block[:100].rstrip(b"\0")
    must(kind in (b"0", b"\0") and not any(block[157:257]) and not any(block[345:]), "no plain file in the tar")
    must(re.fullmatch(rb"(blobs/)?[!-.0-~]+", name), "name in the tar")
    name = name.decode("ascii")
    must(is_name(name), f"entry {name}: {NEWER}")
    must(size <= LARGEST.get(name, LARGEST_ENTRY if name in NAMES else LARGEST_BLOB), f"{name} too large")
    return name, size


def skip_padding(tar, size):
    must(not any(tar.take(-size % 512)), "bytes between entries")


def check_end(tar):
    rest = tar.some(64 * KIB)  # behind the first block of zeros, which was taken
    must(512 <= len(rest) < 64 * KIB - 512 and len(rest) % 512 == 0 and not any(rest), "the tar's end")


# Digests and signature (sections 2 and 3)


def parse_sums(sums):
    """The digests of B2SUMS by name, in their order."""
    must(sums.endswith(b"\n"), "B2SUMS")
    digests = {}
    for line in sums[:-1].split(b"\n"):
        match = re.fullmatch(rb"([0-9a-f]{128})  ([!-~]+)", line)
        must(match, "B2SUMS")
        name = match[2].decode("ascii")
        must(is_name(name), f"entry {name}: {NEWER}")
        must(name not in digests, "a name twice in B2SUMS")
        digests[name] = match[1].decode("ascii")
    must(in_order(digests) and not {*digests} & {*NAMES[:2]} and "manifest.json" in digests, "names in B2SUMS")
    must(all(of.startswith(name.removeprefix("blobs/")) for name, of in digests.items() if name not in NAMES), "a blob's name")
    return digests


def public_key(text):
    """A public key on one line: its id and its 32 bytes."""
    must(isinstance(text, str) and re.fullmatch("[A-Za-z0-9+/]{56}", text, re.ASCII), "public key")
    content = unbase64(text)
    must(content[:2] == b"Ed", "public key")
    return content[2:10], content[10:]


def read_key(path):
    """The key of a minisign file: a comment, and the key on a line."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    keys = [line for line in lines if line and not line.startswith("untrusted comment:")]
    must(len(keys) == 1, f"{path} holds no key")
    public_key(keys[0])
    return keys[0]


OF_SUMS = b"signature of B2SUMS in a Satchel bundle"
OF_KEYS = b"signature of a statement about keys in a Satchel bundle"


def parse_signature(content, what=OF_SUMS):
    """The signature's key id, its 64 bytes, the comment, and the comment's own signature."""
    lines = content.split(b"\n")
    must(len(lines) == 5 and lines[4] == b"", "signature")
    must(lines[0] == b"untrusted comment: " + what, "untrusted comment")
    must(lines[2].startswith(b"trusted comment: "), "signature")
    signature, second = unbase64(lines[1]), unbase64(lines[3])
    must(len(signature) == 74 and signature[:2] == b"ED" and len(second) == 64, "signature")
    return signature[2:10], signature[10:], lines[2].removeprefix(b"trusted comment: "), second


def is_signed(message, signature, key):
    try:
        nacl.bindings.crypto_sign_open(signature + message, key)
    except nacl.exceptions.BadSignatureError:
        return False
    return True


def named_key(comment):
    """The key that the comment of a first contact names."""
    claims = [word for word in comment.split(b" ") if word.startswith(b"key=")]
    must(claims, "no key in the comment")
    return claims[-1].removeprefix(b"key=").decode("ascii", "replace")


def check_signature(content, sums, trusted):
    """The key that signed, on one line, and the comment, which is yet to be compared."""
    key_id, signature, comment, second = parse_signature(content)
    candidates = [key for key in trusted or [named_key(comment)] if public_key(key)[0] == key_id]
    must(candidates, "signed with a key that is not known")
    for key in candidates:
        of_sums = is_signed(hashlib.blake2b(sums).digest(), signature, public_key(key)[1])
        if of_sums and is_signed(signature + comment, second, public_key(key)[1]):
            return key, comment
    raise Refused("bad signature")


# JSON (section 4)


class Integer(int):
    """A number that was written without point and exponent."""


def parse_int(text):
    # -0 and what is beyond all ranges is neither count nor value, but may stand in members that are passed over: it becomes
    # something that no check takes.
    return Integer(text) if text != "-0" and len(text) <= 20 else ...


def members(pairs):
    must(len({name for name, _ in pairs}) == len(pairs), "a member occurs twice")
    return dict(pairs)


def check_extent(text):
    """How deep the JSON is and how much it holds, before it is parsed."""
    bare = re.sub(rb'"[^"\\]*(?:\\.[^"\\]*)*"', b"", text, flags=re.DOTALL)
    brackets = re.findall(rb"[\[{]|[\]}]", bare)
    depth = deepest = 0
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        deepest = max(depth, deepest)
    must(deepest <= DEEPEST, "too deep")
    # Whatever is not empty holds one thing more than it has commas.
    must(bare.count(b",") + len(brackets) // 2 <= MOST_MEMBERS + len(re.findall(rb"\[\s*\]", bare)), "too many members")


def parse(text):
    """A JSON object."""
    check_extent(text)
    try:
        document = json.loads(text.decode("utf-8"), object_pairs_hook=members, parse_constant=refuse, parse_int=parse_int)
    except ValueError as error:
        raise Refused(f"JSON: {error}") from error
    return object_of(document)


def object_of(item):
    must(isinstance(item, dict), "no object")
    return item


def take(document, name, check):
    must(name in document, f"{name} is missing")
    try:
        return check(document[name])
    except Refused as error:
        raise Refused(f"{name}: {error}") from error


def utf8(text):
    must(isinstance(text, str), "no text")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:  # half of a surrogate pair, written as an escape
        raise Refused("no UTF-8") from error


def text_of(text):
    return "text " + utf8(text).hex()


def user_of(text):
    must(len(utf8(text)) <= 100 and not any(unicodedata.category(character) == "Cc" for character in text), "no user")
    return text_of(text)


def count(number, least=0):
    must(isinstance(number, Integer) and least <= number <= LARGEST_COUNT, "no count")
    return int(number)


def count_from_1(number):
    return count(number, 1)


def matching(pattern):
    def check(text):
        must(isinstance(text, str) and re.fullmatch(pattern, text, re.ASCII), "of another form")
        return text
    return check


def word(*words):
    def check(text):
        must(isinstance(text, str) and text in words, f"none of {', '.join(words)}")
        return text
    return check


identifier = matching("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
name_of = matching(r"(?!(con|prn|aux|nul|(com|lpt)[0-9])\Z)[a-z0-9][a-z0-9_-]{0,39}")
stamp = matching("[0-7][0-9a-f]{15}")
digest = matching("[0-9a-f]{128}")
row_digest = matching("[0-9a-f]{64}")
short_digest = matching("[0-9a-f]{16}")
time = matching(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ")
program_version = matching(r"[0-9]+(\.[0-9]+)*")
conflict_id = matching("[0-9a-f]{32}")


def key_text(text):
    public_key(text)
    return text


def recipient(text):
    must(isinstance(text, str), "no text")
    unbech32(text, "age")
    return text


def real(number):
    return "real " + struct.pack(">d", number).hex()


def value(item):
    """A value in the canonical text: its storage class and what it holds."""
    if item is None:
        return "null"
    if isinstance(item, Integer):
        must(abs(item) <= LARGEST_COUNT, "an integer without its tag")
        return f"integer {int(item)}"
    if isinstance(item, float):
        must(math.isfinite(item), "a real beyond all doubles")
        return real(item)
    if isinstance(item, str):
        must("\0" not in item, "text without its tag")
        return text_of(item)
    must(isinstance(item, dict) and len(item) == 1, "no value")
    [(tag, text)] = item.items()
    must(tag in TAGS and isinstance(text, str), "no value")
    return TAGS[tag](text)


def tagged_integer(text):
    must(re.fullmatch("-?[1-9][0-9]{15,18}", text, re.ASCII), "an integer's tag")
    must(LARGEST_COUNT < abs(int(text)) and -2**63 <= int(text) < 2**63, "an integer's tag")
    return f"integer {text}"


def tagged_real(text):
    must(text in ("inf", "-inf"), "a real's tag")
    return real(float(text))


def tagged_text(text):
    content = unbase64(utf8(text))
    with contextlib.suppress(UnicodeDecodeError):
        must("\0" in content.decode("utf-8"), "a text's tag")
    return "text " + content.hex()


def tagged_blob(text):
    return "blob " + unbase64(utf8(text)).hex()


TAGS = {"integer": tagged_integer, "real": tagged_real, "text": tagged_text, "blob": tagged_blob}


def key_of(parts):
    must(isinstance(parts, list) and parts and None not in parts, "no key")
    return "[" + ", ".join(value(part) for part in parts) + "]"


def row(item):
    return "{" + ", ".join(f"{utf8(name).hex()}: {value(part)}" for name, part in object_of(item).items()) + "}"


def row_or_null(item):
    return "none" if item is None else row(item)


# Manifest (section 5)


def read_manifest(manifest):
    """The manifest as lines of canonical text, in pairs of name and content."""
    check_version(manifest)
    kind = manifest["kind"]
    shown = [("format", 1), ("kind", kind), ("bundle", take(manifest, "bundle", identifier)),
             ("dataset", take(manifest, "dataset", name_of)), ("version", take(manifest, "version", count_from_1)),
             ("from", take(manifest, "from", party)), ("to", take(manifest, "to", party)), ("user", take(manifest, "user", user_of)),
             ("created", take(manifest, "created", time)), ("stamp", take(manifest, "stamp", stamp))]
    counts = take(manifest, "counts", object_of)
    shown += [(f"{name} lines", take(counts, name, count)) for name in ("changes", "resolutions", "conflicts")]
    take(manifest, "entries", check_entries)
    if manifest["critical"]:
        shown.append(("critical", ", ".join(manifest["critical"])))
    return shown + optional_members(manifest) + MEMBERS[kind](manifest)


CRITICAL = {"keys", "continues", "attachments", "state", "unseen", "names", "units", "parity"}


def check_version(manifest):
    """That no newer version made it (section 10), before anything else that such a one may have changed."""
    must(take(manifest, "format", count_from_1) == 1, f"format: {NEWER}")
    critical = take(manifest, "critical", lambda names: names if isinstance(names, list) else refuse("no array"))
    must(all(isinstance(name, str) for name in critical), "critical: no texts")
    must(set(critical) <= CRITICAL, f"critical: {NEWER}")
    must(len(critical) == len(set(critical)), "critical: a name twice")
    kind = take(manifest, "kind", lambda name: name if isinstance(name, str) else refuse("no text"))
    must(kind in MEMBERS, f"kind: {NEWER}")


def party(item):
    return take(object_of(item), "id", identifier) + " " + take(item, "name", name_of)


def check_entries(items):
    must(isinstance(items, list), "no array")
    for item in items:
        utf8(take(object_of(item), "name", str))
        take(item, "bytes", count)


def optional_members(manifest):
    kind, shown = manifest["kind"], []
    if "understands" in manifest:
        shown.append(("understands", take(manifest, "understands", understood)))
    if "recipient" in manifest:
        shown.append(("recipient", take(manifest, "recipient", recipient)))
    if "rotation" in manifest:
        must(kind in ("changes", "scope"), f"rotation in {kind}")
        shown.append(("rotation", take(manifest, "rotation", lambda item: rotation(item, manifest))))
    if "revoked" in manifest:
        must(kind == "scope", f"revoked in {kind}")
        shown.append(("revoked", take(manifest, "revoked", revoked)))
    return shown


def understood(names):
    """The names that this reader knows: a later writer may understand more."""
    must(len(list_of(names)) <= 100 and all(isinstance(name, str) for name in names), "no list of names")
    return "[" + ", ".join(sorted(CRITICAL & {*names})) + "]"


def rotation(item, manifest):
    shown = take(object_of(item), "key", key_text) + " " + take(item, "recipient", recipient)
    if "proof" not in item:
        return shown
    words = f"satchel rotation dataset={manifest['dataset']} from={manifest['from']['id']} key={item['key']}".encode("ascii")
    key_id, signature, comment, second = parse_signature(utf8(item["proof"]), OF_KEYS)
    key = public_key(item["key"])
    must(key_id == key[0] and comment == words, "proof of the key")
    must(is_signed(hashlib.blake2b(words).digest(), signature, key[1]) and is_signed(signature + comment, second, key[1]), "proof of the key")
    return shown + " proved"


def revoked(item):
    keys = take(object_of(item), "keys", lambda keys: keys if isinstance(keys, list) else refuse("no array"))
    must([key_text(key) for key in keys] == sorted(keys), "order of the revoked keys")
    return f"{take(item, 'number', count_from_1)} [{', '.join(keys)}]"


def changes_members(manifest):
    shown = [("epoch", take(manifest, "epoch", identifier)), ("incarnation", take(manifest, "incarnation", identifier)),
             ("received", take(manifest, "received", count)), ("sequence", take(manifest, "sequence", count_from_1)),
             ("chain", take(manifest, "chain", chain))]
    must(all(link["sequence"] < manifest["sequence"] for link in manifest["chain"]), "chain: a later export")
    if "lost" in manifest:
        shown.append(("lost", take(manifest, "lost", lost)))
    if manifest.get("brings"):
        shown.append(("brings", take(manifest, "brings", digests)))
    for name in ("base", "former_exports"):
        if name in manifest:
            shown.append((name, take(manifest, name, count)))
            must(manifest[name] < manifest["sequence"], f"{name}: a later export")
    if manifest.get("former"):
        shown.append(("former", take(manifest, "former", former)))
        must(manifest["epoch"] not in manifest["former"], "former: the present epoch")
    if "received_digest" in manifest:
        shown.append(("received digest", take(manifest, "received_digest", digest)))
        if "received_signature" in manifest:
            shown.append(("received signature", take(manifest, "received_signature", signature_file)))
    if "original" in manifest:
        shown.append(("original", take(manifest, "original", digest)))
    if manifest.get("renamed"):
        shown.append(("renamed", take(manifest, "renamed", renamed)))
    if "health" in manifest:
        shown.append(("health", take(manifest, "health", health)))
    return shown


def signature_file(text):
    parse_signature(utf8(text))
    return utf8(text).hex()


def digests(items):
    must(isinstance(items, list) and len(items) <= 1000, "no list of digests")
    must([digest(item) for item in items] == sorted(set(items)), "order of the digests")
    return "[" + ", ".join(items) + "]"


def renamed(items):
    must(isinstance(items, list) and len(items) <= 1000, "no list of renamed columns")
    names = ("table", "from", "to")
    shown = [" ".join(text_of(take(object_of(item), name, utf8_text)) for name in names) for item in items]
    return "[" + ", ".join(shown) + "]"


def health(item):
    must(len(take(object_of(item), "satchel", program_version)) <= 32, "no version")
    shown = [item["satchel"]] + [str(take(item, name, count)) for name in ("free", "database", "quarantined")]
    if "doctor" in item:
        doctor = take(item, "doctor", object_of)
        shown += [take(doctor, "at", time), take(doctor, "result", matching("well|repaired|faults"))]
    return " ".join(shown)


def utf8_text(text):
    utf8(text)
    return text


def former(epochs):
    must(isinstance(epochs, list) and len(epochs) <= 1024, "no list of epochs")
    must([identifier(epoch) for epoch in epochs] == sorted(set(epochs)), "order of the epochs")
    return "[" + ", ".join(epochs) + "]"


def questions(items):
    must(isinstance(items, list) and len(items) <= 1000, "no list of tables")
    return "[" + ", ".join(map(question, items)) + "]"


def question(item):
    """Sums of a table whose rows the hub requests, or a device sends."""
    return text_of(take(object_of(item), "table", utf8_text)) + " " + take(item, "sums", sums_of)


def sums_of(sums):
    must(isinstance(sums, list) and sums and all(0 <= count(number) <= 63 for number in sums), "sums")
    must(sums == sorted(set(sums)), "order of the sums")
    return " ".join(map(str, sums))


def lost(paths):
    must(isinstance(paths, list) and len(paths) <= MOST_BLOBS, "no list of lost files")
    names = [path_of(path).encode() for path in paths]
    must(names == sorted(set(names)), "order of the lost files")
    return "[" + ", ".join(text_of(path) for path in paths) + "]"


def chain(links):
    pairs = numbered(links, "sequence", 256)
    must(all(one[0] < other[0] for one, other in zip(pairs, pairs[1:])), "order")
    return show_numbered(pairs)


def follows(links):
    pairs = numbered(links, "number", 4096)
    must(pairs == sorted(set(pairs)), "order")
    return show_numbered(pairs)


def numbered(links, name, most):
    """The numbers and digests of exports or emissions."""
    must(isinstance(links, list) and len(links) <= most, "no list, or too long")
    return [(take(object_of(link), name, count_from_1), take(link, "digest", digest)) for link in links]


def show_numbered(pairs):
    return "[" + ", ".join(f"{number} {of}" for number, of in pairs) + "]"


def scope_members(manifest):
    shown = [("epoch", take(manifest, "epoch", identifier)), ("number", take(manifest, "number", count_from_1)),
             ("after", take(manifest, "after", count)), ("extent", take(manifest, "extent", word("full", "delta"))),
             ("acknowledged", take(manifest, "acknowledged", count))]
    if "acknowledged_digest" in manifest:
        shown.append(("acknowledged digest", take(manifest, "acknowledged_digest", digest)))
    if "backed_up" in manifest:
        shown.append(("backed up", take(manifest, "backed_up", count)))
        must(manifest["backed_up"] <= manifest["acknowledged"], "backed_up: above acknowledged")
    # An empty list has another meaning than a missing member.
    if "follows" in manifest:
        shown.append(("follows", take(manifest, "follows", follows)))
        must(all(link["number"] < manifest["number"] for link in manifest["follows"]), "follows: not before number")
    if "former" in manifest:
        shown.append(("former", take(manifest, "former", former)))
        must(manifest["epoch"] not in manifest["former"], "former: the present epoch")
    if manifest.get("collected"):
        shown.append(("collected", take(manifest, "collected", digests)))
    if manifest.get("known"):
        shown.append(("known", take(manifest, "known", digests)))
    if manifest.get("compare"):
        shown.append(("compare", take(manifest, "compare", questions)))
    if manifest["extent"] == "full":
        must(manifest["after"] == 0, "after: not 0 in a full scope")
    else:
        must(1 <= manifest["after"] < manifest["number"], "after: not before number")
    return shown


def enrolment_members(manifest):
    must(manifest["version"] == 1 and manifest["user"] == "", "version or user of an enrolment")
    must({name: manifest["to"][name] for name in NO_HUB} == NO_HUB, "to: an enrolment does not know its hub")
    must(("continues" in manifest["critical"]) == ("continues" in manifest), "critical says otherwise than continues")
    shown = [("incarnation", take(manifest, "incarnation", identifier)), ("key", take(manifest, "key", key_text))]
    if "continues" in manifest:
        shown.append(("continues", take(manifest, "continues", continuation)))
    return shown


def continuation(item):
    counts = [take(item, "acknowledged", count), take(item, "received", count)]
    shown = [take(object_of(item), "device", identifier), *map(str, counts), take(item, "chain", chain)]
    if "proof" in item:
        key_id = parse_signature(utf8(item["proof"]), OF_KEYS)[0]
        shown.append(f"proved by {key_id[::-1].hex().upper()}")
    return " ".join(shown)


def volume_members(manifest):
    shown = [("of", take(manifest, "of", identifier)), ("whole", take(manifest, "whole", word("changes", "scope"))),
             ("number", take(manifest, "number", count))]
    part, parts = take(manifest, "part", count_from_1), take(manifest, "parts", count_from_1)
    parity = take(manifest, "parity", count_from_1) if "parity" in manifest else 0
    must(part <= parts + parity and parts <= 9999, "part or parts of a volume")
    must(parity == 0 or parts + parity <= 256, "parity of a volume")
    must(("parity" in manifest["critical"]) == (part > parts), "critical says otherwise than part")
    return shown + [("part", f"{part} of {parts}"), ("bytes", take(manifest, "bytes", count_from_1)),
                    ("digest", take(manifest, "digest", digest))] + [("parity", parity)] * (parity > 0)


def backup_members(manifest):
    must(manifest["from"] == manifest["to"] and manifest["user"] == "", "a backup is from a hub to itself")
    return [("epoch", take(manifest, "epoch", identifier)), ("cursor", take(manifest, "cursor", count))]


MEMBERS = {"changes": changes_members, "scope": scope_members, "enrolment": enrolment_members, "volume": volume_members,
           "backup": backup_members}
NUMBERS = {"changes": "sequence", "scope": "number", "volume": "part", "backup": "cursor"}


def comment_of(manifest, key):
    """The comment that the signature of a bundle with this manifest must have."""
    number = manifest[NUMBERS[manifest["kind"]]] if manifest["kind"] in NUMBERS else 0
    return (f"satchel {manifest['kind']} {manifest['bundle']} dataset={manifest['dataset']} from={manifest['from']['id']} "
            f"to={manifest['to']['id']} number={number} key={key}")


def check_places(manifest, present):
    """That the entries are those that the kind has, and that the counts speak of them."""
    for name in LINES:
        must((manifest["counts"][name.removesuffix(".jsonl")] > 0) == (name in present), f"count of {name}")
    if manifest["kind"] == "changes":
        needed, allowed = [], LINES + ["snapshot.sqlite"]
    elif manifest["kind"] == "enrolment":
        needed, allowed = [], []
    elif manifest["kind"] == "volume":
        needed, allowed = ["part"], ["part"]
    elif manifest["kind"] == "backup":
        needed = allowed = ["snapshot.sqlite", "files.sqlite"]
    elif manifest["extent"] == "full":
        needed = ["dataset.json", "snapshot.sqlite"]
        allowed = ["changes.jsonl", "conflicts.jsonl", "dataset.json", "migrations.jsonl", "snapshot.sqlite"]
    else:
        needed, allowed = [], ["changes.jsonl", "conflicts.jsonl", "dataset.json", "migrations.jsonl"]
    if manifest["kind"] in ("changes", "scope"):
        allowed = [*allowed, "attachments.jsonl", *(["state.json"] if manifest["kind"] == "changes" else []), *(name for name in present if name not in NAMES)]
    must(("state.json" in present) == ("state" in manifest["critical"]), "critical says otherwise than state.json")
    must(set(needed) <= set(present) <= set(allowed), f"entries of {manifest['kind']}")
    check_blobs(manifest, present)
    must("dataset.json" in present or "migrations.jsonl" not in present, "migrations without the definition to which they lead")
    lines = {"changes.jsonl", "conflicts.jsonl"} & {*present}
    must(lines or not {"unseen", "units"} & {*manifest["critical"]}, "critical: no lines could state that")
    must("changes.jsonl" in present or "keys" not in manifest["critical"], "critical: there are no lines about keys")


def check_blobs(manifest, present):
    """That manifest and entries say the same of files that rows name."""
    counts, blobs = manifest["counts"], [name for name in present if name not in NAMES]
    is_there = "attachments.jsonl" in present
    must(("attachments" in counts) == ("attachments" in manifest["critical"]) == is_there, "attachments")
    must(len(blobs) == (take(counts, "blobs", count) if is_there else 0) <= MOST_BLOBS, "count of blobs")
    must(not is_there or take(counts, "attachments", count_from_1), "count of attachments.jsonl")


# Lines (section 6)

# Which kind of bundle has an op, and its members beside those of all changes.
OPS = {
    "insert": (["changes"], ["generation", "row"]),
    "update": (["changes"], ["generation", "set", "was"]),
    "delete": (["changes"], ["generation", "was"]),
    "row": (["scope"], ["row"]),
    "gone": (["scope"], []),
    "rekey": (["changes", "scope"], ["to", "number"]),
    "block": (["scope"], ["to", "number"]),
}
OF_OPS = {"generation": count, "row": row, "set": row, "was": row, "to": key_of, "number": count}
SIDE = word("hub", "device")
DECISION = word("hub", "device", "set")


def show_change(line, manifest):
    op = take(line, "op", word(*OPS))
    kinds, names = OPS[op]
    must(manifest["kind"] in kinds, f"a line of {op} in {manifest['kind']}")
    must(OF_OPS.keys() & line.keys() == set(names), f"members of {op}")
    shown = {name: f"{name} {take(line, name, OF_OPS[name])}" for name in names}
    when = [shown.pop("generation")] if "generation" in shown else []
    shown = ["change", op, take(line, "table", text_of), take(line, "key", key_of), *when, take(line, "stamp", stamp), *shown.values()]
    check_change(line, op, manifest)
    return " | ".join(shown + optional_parts(line, op, manifest))


def optional_parts(line, op, manifest):
    """The members of a change that may be missing."""
    must("generation" in line or not {"first", "unit"} & line.keys(), f"members of {op}")
    must("first" in line or "more" not in line, "more without first")
    must(op in ("row", "gone") or "before" not in line, f"before in {op}")
    must(op == "row" or "others" not in line, f"others in {op}")
    shown = []
    if "first" in line:
        is_more = "more" in line and take(line, "more", boolean)
        shown.append("first " + take(line, "first", stamp) + " more" * is_more)
    shown += unit_of(line, manifest, lambda number: str(count_from_1(number)))
    if line.get("before"):
        must("unseen" in manifest["critical"], "states that the manifest does not name")
        shown.append("before [" + take(line, "before", states) + "]")
    if "others" in line:
        shown.append("others {" + take(line, "others", others) + "}")
    return shown


def boolean(item):
    must(isinstance(item, bool), "no boolean")
    return item


def states(items):
    """The states that a row may have on the device."""
    must(isinstance(items, list) and len(items) <= 4096, "no list, or too long")
    return ", ".join("none" if item is None else short_digest(item) for item in items)


def others(item):
    return ", ".join(text_of(name) + others_write(write) for name, write in object_of(item).items())


def others_write(item):
    shown = " stamp " + take(item, "stamp", stamp) if "stamp" in object_of(item) else ""
    return shown + (f" after {take(item, 'after', count)}" if "after" in item else "")


def check_change(line, op, manifest):
    """How the members of a change depend on each other and on the manifest."""
    must(line["stamp"] == NO_STAMP or op not in ("gone", "rekey", "block"), f"stamp of {op}")
    if manifest["kind"] == "changes":
        must(line["stamp"] <= manifest["stamp"], "a stamp behind the manifest's")
        must(line.get("generation", 0) < manifest["sequence"], "generation: not below the sequence")
    if op == "update":
        must(list(line["set"]) == list(line["was"]), "set and was have other names")
    if op == "block":
        must(whole_number(line["key"]) <= whole_number(line["to"]), "a block's end before its beginning")


def whole_number(key):
    kind, _, number = value(key[0]).partition(" ")
    must(len(key) == 1 and kind == "integer", "a block's key is no whole number")
    return int(number)


def show_conflict(line, manifest):
    shown = [
        "conflict", take(line, "conflict", conflict_id), take(line, "device", identifier), take(line, "user", user_of),
        take(line, "table", text_of), take(line, "op", word("insert", "update", "delete")), take(line, "key", key_of),
        f"generation {take(line, 'generation', count)}", take(line, "stamp", stamp),
        take(line, "kind", word("update/update", "delete/update", "update/delete", "insert/insert", "unique", "foreign key",
                                "constraint", "forbidden", "revoked", "unseen", "unit")),
        take(line, "state", word("open", "settled", "held", "resolved")), "base " + take(line, "base_values", row_or_null),
        "hub " + take(line, "hub_values", row_or_null), "device " + take(line, "device_values", row_or_null),
        "winners {" + take(line, "winners", winners) + "}", take(line, "winner", SIDE)]
    # A hub's archive, which is from and to itself, has no device at either end.
    if manifest["from"]["id"] != manifest["to"]["id"]:
        must(line["device"] == manifest["from" if manifest["kind"] == "changes" else "to"]["id"], "a conflict of another device")
    is_decided = line["state"] == "resolved"
    must(("decision" in line) == is_decided and ("decided_by" in line) == is_decided, "a decision")
    if is_decided:
        shown += ["decided " + take(line, "decision", DECISION), take(line, "decided_by", user_of)]
    return " | ".join(shown + note(line) + unit_of(line, manifest, conflict_id))


def unit_of(line, manifest, read):
    if "unit" not in line:
        return []
    must("units" in manifest["critical"], "a unit that the manifest does not name")
    return ["unit " + take(line, "unit", read)]


def winners(item):
    return ", ".join(f"{utf8(name).hex()}: {SIDE(who)}" for name, who in object_of(item).items())


def note(line):
    return [take(line, "note", text_of)] if "note" in line else []


def show_resolution(line, manifest):
    shown = ["resolution", take(line, "conflict", conflict_id), take(line, "decision", DECISION),
             take(line, "user", user_of), f"generation {take(line, 'generation', count)}", take(line, "stamp", stamp)]
    must(line["stamp"] <= manifest["stamp"], "a stamp behind the manifest's")
    return " | ".join(shown + note(line))


def show_migrations(path, manifest):
    shown, last = [], 1
    for line in map(parse, lines_of(path)):
        version, sql = take(line, "version", count), take(line, "sql", text_of)
        must(last < line["version"] <= manifest["version"], "a migration out of order, or above the bundle's version")
        must(len(line["sql"].encode()) <= LARGEST_SCRIPT, "a migration that is too large")
        shown.append(f"migration | {version} | {sql}")
        last = line["version"]
    return shown


DEVICES = re.compile("con|prn|aux|nul|con(in|out)\\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]", re.ASCII)


def path_of(text):
    """A path below files/."""
    must(len(utf8(text)) <= 512 and not any(unicodedata.category(character) == "Cc" for character in text), "no path")
    for name in text.split("/"):
        must(1 <= len(name.encode()) <= 200 and name[0] not in ". " and name[-1] not in ". ", "a name on the path")
        must(not set(name) & set('\\:*?"<>|'), "a character on the path")
        stem = re.sub("[A-Z]", lambda match: match[0].lower(), name.split(".")[0].rstrip(" "))
        must(not DEVICES.fullmatch(stem), "a device's name on the path")
    return text


def show_attachments(folder, manifest, digests):
    shown, last, named = [], (), set()
    for line in map(parse, lines_of(os.path.join(folder, "attachments.jsonl"))):
        op, path, of = take(line, "op", word("file", "has")), take(line, "path", path_of), take(line, "digest", digest)
        place = (op != "file", path.encode(), of)
        must(last < place and (op == "has" or last[:2] != place[:2]), "order of the attachments")
        must(("bytes" in line) == (op == "file"), "bytes of an attachment")
        must(op == "file" or "was" not in line, "a former version of what came")
        last, text = place, f"attachment | {op} | {text_of(path)} | {of}"
        if op == "file":
            text += f" | was {take(line, 'was', digest)}" if "was" in line else ""
            blob = f"blobs/{of[:64]}"
            must(digests.get(blob) == of and take(line, "bytes", count) == os.path.getsize(os.path.join(folder, blob)), "its blob")
            with open(os.path.join(folder, blob), "rb") as file:
                text += f" | {file.read().hex()}"
            named.add(blob)
        shown.append(text)
    must(len(shown) == manifest["counts"]["attachments"], "count of attachments.jsonl")
    must(sum(text.startswith("attachment | file") for text in shown) <= MOST_BLOBS, "count of files")
    must(named == {name for name in digests if name not in NAMES}, "a blob that no line names")
    return shown


def show_state(path):
    must(os.path.getsize(path) <= LARGEST_STATE, "state.json too large")
    with open(path, "rb") as file:
        state = parse(file.read())
    tables, answers = take(state, "tables", list_of), take(state, "answers", list_of)
    for items in (tables, answers):
        names = [utf8(take(object_of(item), "table", utf8_text)) for item in items]
        must(names == sorted(set(names)), "order of the tables")
    must(sum(len(take(answer, "rows", list_of)) for answer in answers) <= MOST_ROWS, "too many rows")
    shown = [f"answer | {question(answer)} | {{{keyed_digests(answer['rows'])}}}" for answer in answers]
    return [state_table(table) for table in tables] + shown


def state_table(item):
    columns, sums = take(item, "columns", list_of), take(item, "sums", object_of)
    must([utf8(column) for column in columns] == sorted({utf8(column) for column in columns}), "order of the columns")
    places = [int(place) if re.fullmatch("0|[1-9][0-9]?", place, re.ASCII) else refuse("sums") for place in sums]
    must(places == sorted(places) and all(place < 64 for place in places), "sums")
    must(all(row_digest(total) != "0" * 64 for total in sums.values()), "a sum that is zero")
    shown = ", ".join(f"{place}: {total}" for place, total in sums.items())
    names, rows = ", ".join(map(text_of, columns)), take(item, "rows", count)
    return f"state | {text_of(item['table'])} | [{names}] | rows {rows} | {{{shown}}}"


def keyed_digests(rows):
    pairs = [(take(object_of(item), "key", key_of_text), take(item, "digest", row_digest)) for item in rows]
    return ", ".join(f"{key}: {of}" for key, of in pairs)


def key_of_text(text):
    """A key that was written as text."""
    return key_of(parse(b'{"key":' + utf8(text) + b"}")["key"])


def list_of(items):
    must(isinstance(items, list), "no array")
    return items


SHOW = {"changes.jsonl": show_change, "resolutions.jsonl": show_resolution, "conflicts.jsonl": show_conflict}


def lines_of(path):
    with open(path, "rb") as file:
        while line := file.readline(LARGEST_LINE + 1):
            must(line.endswith(b"\n"), "a line that is too long or has no end")
            yield line[:-1]


def show_lines(path, manifest):
    name = os.path.basename(path)
    shown, lines = [], []
    for line in lines_of(path):
        lines.append(parse(line))
        shown.append(SHOW[name](lines[-1], manifest))
    must(len(shown) == manifest["counts"][name.removesuffix(".jsonl")], f"count of {name}")
    if name == "changes.jsonl":
        check_order([line["op"] for line in lines], manifest)
    return shown


def check_order(ops, manifest):
    """Lines about keys come first, then lines about rows that are gone, then all others."""
    ranks = [0 if op in ("rekey", "block") else 1 if op == "gone" else 2 for op in ops]
    must(ranks == sorted(ranks), "order of the changes")
    must(("keys" in manifest["critical"]) == (0 in ranks), "critical says otherwise than the lines")
    must(manifest.get("extent") != "full" or not any(ranks), "rows outside of the snapshot")


# Snapshot (section 8)


def show_snapshot(path, manifest):
    with open(path, "rb") as file:
        must(file.read(16) == b"SQLite format 3\0", "no SQLite")
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
            database.text_factory = bytes
            check_database(database, manifest)
            return show_database(database)
    except sqlite3.Error as error:
        raise Refused(f"snapshot: {error}") from error


def check_database(database, manifest):
    """A stranger made it: nothing that it holds may run, and nothing of it is believed before the check of its integrity."""
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    must(not database.execute("SELECT 1 FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'").fetchall(),
         "snapshot: more than tables and indexes")
    must(database.execute("PRAGMA integrity_check").fetchall() == [(b"ok",)], "snapshot: integrity")
    must(database.execute("PRAGMA encoding").fetchall() == [(b"UTF-8",)], "snapshot: encoding")
    stamps = columns_of(database, "satchel_stamps")
    must(stamps[:3] == ["table_name", "key", "stamp"] and stamps[3:] in ([], ["others"]), "snapshot: satchel_stamps")
    if manifest["kind"] == "changes":
        must(not database.execute("SELECT 1 FROM satchel_stamps").fetchall(), "snapshot: a device's stamps")


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def columns_of(database, table):
    """The columns of a table, without generated columns: table_info does not list these."""
    return [item[1].decode("utf-8") for item in database.execute(f"PRAGMA table_info({quoted(table)})")]


def show_database(database):
    """All rows, sorted: by the tables' names, then as text."""
    tables = [name.decode("utf-8") for (name,) in database.execute(
        r"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'")]
    shown = []
    for table in sorted(tables, key=str.encode):
        columns = columns_of(database, table)
        wanted = ", ".join([quoted(column) for column in columns] + [f"typeof({quoted(column)})" for column in columns])
        texts = []
        for items in database.execute(f"SELECT {wanted} FROM {quoted(table)}"):
            cells = zip(columns, items[:len(columns)], items[len(columns):])
            cells = ", ".join(f"{name.encode('utf-8').hex()}: {stored(item, kind)}" for name, item, kind in cells)
            texts.append(f"snapshot | {text_of(table)} | {{{cells}}}")
        shown += sorted(texts)
    return shown


def stored(item, kind):
    if kind == b"null":
        return "null"
    if kind == b"integer":
        return f"integer {item}"
    return real(item) if kind == b"real" else f"{kind.decode()} {item.hex()}"


# Reading, in order (section 11)


@dataclasses.dataclass
class Bundle:
    """A bundle of which all is checked but what its lines, its definition and its snapshot say."""
    folder: str  # where its entries behind the manifest lie
    names: list  # of these entries
    key: str  # that signed it
    manifest: dict
    shown: list  # the manifest in the canonical text, in pairs
    digests: dict  # of the entries
    digest: str  # of its B2SUMS, by which other bundles name it
    source: bytes  # its manifest.json


def unsealed(path, secrets):
    """The pieces of the tar in this file."""
    with open(path, "rb") as file:
        packed = Stream(pieces_of(file))
        if file.peek(len(AGE))[:len(AGE)] == AGE:
            packed = Stream(decrypted(packed, secrets))
        yield from unpacked(packed)


def take_entry(tar, name):
    """The content of the next entry, which must be this one and is small."""
    found = next_entry(tar)
    must(found is not None and found[0] == name, f"{name} is not where it must be")
    content = tar.take(found[1])
    skip_padding(tar, found[1])
    return content


def store_entry(tar, folder, name, size, expected):
    """Puts the next entry, of this size and digest, into a file of its name."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    must(next_entry(tar) == (name, size), f"{name} is not where it must be, or of another size")
    sum_of, left = hashlib.blake2b(), size
    with open(path, "xb") as file:
        while left:
            piece = tar.take(min(left, 64 * KIB))
            left -= len(piece)
            sum_of.update(piece)
            file.write(piece)
    skip_padding(tar, size)
    must(sum_of.hexdigest() == expected, f"digest of {name}")


def open_bundle(path, folder, trusted, secrets):
    tar = Stream(unsealed(path, secrets))
    signature, sums = take_entry(tar, "B2SUMS.minisig"), take_entry(tar, "B2SUMS")
    key, comment = check_signature(signature, sums, trusted)
    digests = parse_sums(sums)
    content = take_entry(tar, "manifest.json")
    must(hashlib.blake2b(content).hexdigest() == digests["manifest.json"], "digest of manifest.json")
    manifest = parse(content)
    shown = read_manifest(manifest)
    must(comment == comment_of(manifest, key).encode("ascii"), "the signature's comment")
    names = list(digests)[1:]
    must([item["name"] for item in manifest["entries"]] == names, "the manifest's entries")
    check_places(manifest, names)
    must(manifest["kind"] != "enrolment" or manifest["key"] == key, "the key of an enrolment")
    must("revoked" not in manifest or key not in manifest["revoked"]["keys"], "signed with a key that it revokes")
    for item in manifest["entries"]:
        store_entry(tar, folder, item["name"], item["bytes"], digests[item["name"]])
    must(next_entry(tar) is None, "more entries than B2SUMS names")
    return Bundle(folder, names, key, manifest, shown, digests, hashlib.blake2b(sums).hexdigest(), content)


def show(bundle):
    """The canonical text of a bundle."""
    text = [f"{name}: {item}" for name, item in bundle.shown] + [f"signer: {bundle.key}"]
    for name in bundle.names:
        path = os.path.join(bundle.folder, name)
        if name in LINES:
            text += show_lines(path, bundle.manifest)
        elif name == "dataset.json":
            with open(path, "rb") as file:
                content = file.read()
            parse(content)
            text.append("dataset | " + content.hex())
        elif bundle.manifest["kind"] == "backup":
            text.append(f"{name} | {bundle.digests[name]}")
        elif name == "migrations.jsonl":
            text += show_migrations(path, bundle.manifest)
        elif name == "snapshot.sqlite":
            text += show_snapshot(path, bundle.manifest)
        elif name == "attachments.jsonl":
            text += show_attachments(bundle.folder, bundle.manifest, dict(list(bundle.digests.items())[1:]))
        elif name == "state.json":
            text += show_state(path)
        elif name in NAMES:
            text.append("part | " + bundle.digests[name])
    return "\n".join(text) + "\n"


# Volumes (section 5)


def check_volumes(volumes):
    """That these bundles are volumes of one bundle, each once at most, and enough of them."""
    must(all(volume.manifest["kind"] == "volume" for volume in volumes), "several files that are not all volumes")
    first = volumes[0]
    for volume in volumes:
        for name in ("dataset", "from", "to", "of", "whole", "number", "parts", "bytes", "digest"):
            must(volume.manifest[name] == first.manifest[name], f"volumes of several bundles: {name}")
    parts = [volume.manifest["part"] for volume in volumes]
    must(len(parts) == len(set(parts)) >= first.manifest["parts"], "volumes are missing or doubled")
    # Those before the last have one size; the last one has what is left.
    whole = [volume for volume in volumes if volume.manifest["part"] != first.manifest["parts"]]
    sizes = [volume.manifest["entries"][0]["bytes"] for volume in whole]
    must(len(set(sizes)) <= 1, "volumes of several sizes")


def times(left, right):
    """The product in GF(2^8) with the polynomial 0x11d."""
    product = 0
    for bit in range(8):
        product ^= (right >> bit & 1) * left << bit
    for bit in range(14, 7, -1):
        product ^= (product >> bit & 1) * 0x11D << bit - 8
    return product


INVERSES = {left: right for left in range(1, 256) for right in range(1, 256) if times(left, right) == 1}


def multiple(piece, factor):
    """Each byte of a piece, times the factor, as one number."""
    return int.from_bytes(piece.translate(bytes(times(factor, byte) for byte in range(256))), "big")


def solve(rows):
    """The inverse of a matrix over GF(2^8)."""
    size = len(rows)
    rows = [row + [int(column == place) for column in range(size)] for place, row in enumerate(rows)]
    for step in range(size):
        pivot = next(place for place in range(step, size) if rows[place][step])
        rows[step], rows[pivot] = rows[pivot], rows[step]
        rows[step] = [times(value, INVERSES[rows[step][step]]) for value in rows[step]]
        for place in set(range(size)) - {step}:
            factor = rows[place][step]
            rows[place] = [value ^ times(factor, other) for value, other in zip(rows[place], rows[step])]
    return [row[size:] for row in rows]


def data_pieces(known, count, size):
    """The pieces from 0 on, from any `count` pieces by their numbers. `size` is the size of a whole file."""
    if set(known) >= set(range(count)):
        return [known[place] for place in range(count)]
    chosen = sorted(known)[:count]
    longest = max(len(known[place]) for place in chosen)
    def coefficients(row):
        return [int(row == place) if row < count else INVERSES[row ^ place] for place in range(count)]
    pieces = []
    for row in solve([coefficients(row) for row in chosen]):
        total = 0
        for factor, place in zip(row, chosen):
            total ^= multiple(known[place].ljust(longest, b"\0"), factor)
        pieces.append(total.to_bytes(longest, "big"))
    return pieces[:-1] + [pieces[-1][:size - (count - 1) * longest]]


def join(volumes, path):
    """Joins volumes into the file that was cut."""
    check_volumes(volumes)
    said, known = volumes[0].manifest, {}
    for volume in volumes:
        with open(os.path.join(volume.folder, "part"), "rb") as part:
            known[volume.manifest["part"] - 1] = part.read()
    sum_of, size = hashlib.blake2b(), 0
    with open(path, "xb") as whole:
        for piece in data_pieces(known, said["parts"], said["bytes"]):
            sum_of.update(piece)
            size += len(piece)
            whole.write(piece)
    must(size == said["bytes"] and sum_of.hexdigest() == said["digest"], "size or digest of the joined file")


def check_whole(bundle, volume):
    """Checks that a joined bundle is the bundle which its volumes describe."""
    manifest, said = bundle.manifest, volume.manifest
    must(manifest["bundle"] == said["of"] and manifest["kind"] == said["whole"], "the joined bundle is another one")
    must(manifest[NUMBERS[said["whole"]]] == said["number"], "the joined bundle has another number")
    must(all(manifest[name] == said[name] for name in ("dataset", "from", "to")), "the joined bundle has other ends")


def read(paths, trusted, secrets):
    """The canonical text of what is in a file, or in several volumes."""
    with contextlib.ExitStack() as stack:
        def folder():
            return stack.enter_context(tempfile.TemporaryDirectory(prefix="reader-"))
        found = [open_bundle(path, folder(), trusted, secrets) for path in paths]
        if len(paths) == 1:
            return show(found[0])
        joined = os.path.join(folder(), "joined")
        join(found, joined)
        # The bundle that volumes make is not encrypted, so it needs no identities.
        whole = open_bundle(joined, folder(), trusted, [])
        check_whole(whole, found[0])
        return show(whole)


def main():
    options = argparse.ArgumentParser(description="Prints a Satchel bundle in the canonical text.")
    options.add_argument("-k", metavar="KEY.pub", action="append", default=[], help="a key that is trusted")
    options.add_argument("-i", metavar="IDENTITIES", help="a file with age identities")
    options.add_argument("files", metavar="FILE", nargs="+", help="a bundle, or all volumes of one")
    given = options.parse_args()
    try:
        trusted = [read_key(path) for path in given.k]
        secrets = read_identities(given.i) if given.i else []
    except (OSError, UnicodeDecodeError, Refused) as error:
        options.error(str(error))
    try:
        sys.stdout.write(read(given.files, trusted, secrets))
    except Refused as error:
        print(f"refused: {error}", file=sys.stderr)
        return 3
    except OSError as error:
        options.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
