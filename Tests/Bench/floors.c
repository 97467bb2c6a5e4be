// The cost of the least work, in C: nothing is merged, checked or kept, and there are no scopes and no conflicts.
// `make bench` compiles this program and measures it beside the tools.
//
//   floors export DB OUT TEXT    rows whose remark ends with TEXT -> JSON lines -> tar -> zstd -3, signed
//   floors record DB OUT SQL     runs SQL that changes visits, and writes SQLite's changeset of the changes
//   floors apply DB CHANGESET    applies a changeset; if a row has changed since, the changeset's values replace it
//   floors scope DB OUT A Z      the rows of the regions from A to Z -> a database -> zstd -3, signed

#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static void die(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static sqlite3 *open_database(const char *path) {
  sqlite3 *db;
  if (sqlite3_open(path, &db) != SQLITE_OK) die(sqlite3_errmsg(db));
  return db;
}

static void run(sqlite3 *db, const char *sql) {
  if (sqlite3_exec(db, sql, 0, 0, 0) != SQLITE_OK) die(sqlite3_errmsg(db));
}

static char *bytes;
static size_t count, room;

static void put(const void *more, size_t n) {
  if (count + n > room) {
    room = 2 * (count + n);
    if (!(bytes = realloc(bytes, room))) die("out of memory");
  }
  memcpy(bytes + count, more, n);
  count += n;
}

static void put_text(const unsigned char *text, int n) {
  put("\"", 1);
  int written = 0;
  for (int i = 0; i < n; i++) {
    if (text[i] >= 0x20 && text[i] != '"' && text[i] != '\\') continue;
    char escaped[8];
    put(text + written, i - written);
    put(escaped, snprintf(escaped, sizeof escaped, "\\u%04x", text[i]));
    written = i + 1;
  }
  put(text + written, n - written);
  put("\"", 1);
}

static void put_row(sqlite3_stmt *row) {
  char number[40];
  for (int i = 0; i < sqlite3_column_count(row); i++) {
    const char *name = sqlite3_column_name(row, i);
    put(i ? "," : "{", 1);
    put_text((const unsigned char *)name, strlen(name));
    put(":", 1);
    switch (sqlite3_column_type(row, i)) {
      case SQLITE_INTEGER: put(number, snprintf(number, sizeof number, "%lld", sqlite3_column_int64(row, i))); break;
      case SQLITE_FLOAT: put(number, snprintf(number, sizeof number, "%.17g", sqlite3_column_double(row, i))); break;
      case SQLITE_NULL: put("null", 4); break;
      default: put_text(sqlite3_column_text(row, i), sqlite3_column_bytes(row, i));
    }
  }
  put("}\n", 2);
}

// Puts the header of a tar entry before the content in `bytes`, and adds the end of the tar. Then compresses, signs
// and syncs the file.
static void write_signed(const char *path) {
  size_t size = count;
  char header[512] = {0};
  snprintf(header, 100, "entry");
  snprintf(header + 100, 8, "0000644");
  snprintf(header + 124, 12, "%011zo", size);
  header[156] = '0';
  memcpy(header + 257, "ustar\00000", 8);
  memset(header + 148, ' ', 8);
  unsigned sum = 0;
  for (int i = 0; i < 512; i++) sum += (unsigned char)header[i];
  snprintf(header + 148, 8, "%06o", sum);

  unsigned char digest[64], signature[64], public[32], secret[64];
  crypto_generichash(digest, 64, (unsigned char *)bytes, size, 0, 0);
  crypto_sign_keypair(public, secret);
  crypto_sign_detached(signature, 0, digest, 64, secret);

  size_t padded = (size + 511) / 512 * 512 + 1024;
  char *tar = calloc(1, 512 + padded);
  memcpy(tar, header, 512);
  memcpy(tar + 512, bytes, size);
  size_t bound = ZSTD_compressBound(512 + padded);
  char *packed = malloc(bound);
  size_t made = ZSTD_compress(packed, bound, tar, 512 + padded, 3);
  FILE *file = fopen(path, "w");
  if (ZSTD_isError(made) || !file) die("cannot write");
  fwrite(signature, 1, 64, file);
  fwrite(packed, 1, made, file);
  fflush(file);
  fsync(fileno(file));
  fclose(file);
}

static void export(const char *path, const char *out, const char *text) {
  sqlite3_stmt *row;
  sqlite3 *db = open_database(path);
  if (sqlite3_prepare_v2(db, "SELECT * FROM visits WHERE remark LIKE '%' || ?", -1, &row, 0)) die(sqlite3_errmsg(db));
  sqlite3_bind_text(row, 1, text, -1, SQLITE_STATIC);
  while (sqlite3_step(row) == SQLITE_ROW) put_row(row);
  sqlite3_finalize(row);
  sqlite3_close(db);
  write_signed(out);
}

static void record(const char *path, const char *out, const char *sql) {
  sqlite3 *db = open_database(path);
  sqlite3_session *session;
  int size;
  void *changeset;
  if (sqlite3session_create(db, "main", &session) || sqlite3session_attach(session, "visits")) die("no session");
  run(db, sql);
  if (sqlite3session_changeset(session, &size, &changeset)) die("no changeset");
  FILE *file = fopen(out, "w");
  if (!file) die("cannot write");
  fwrite(changeset, 1, size, file);
  fclose(file);
}

static int replace(void *context, int kind, sqlite3_changeset_iter *change) {
  (void)context, (void)change;
  return kind == SQLITE_CHANGESET_DATA ? SQLITE_CHANGESET_REPLACE : SQLITE_CHANGESET_OMIT;
}

static void apply(const char *path, const char *changeset) {
  sqlite3 *db = open_database(path);
  FILE *file = fopen(changeset, "r");
  char piece[1 << 16];
  size_t n;
  if (!file) die("cannot read");
  while ((n = fread(piece, 1, sizeof piece, file)) > 0) put(piece, n);
  if (sqlite3changeset_apply(db, (int)count, bytes, 0, replace, 0)) die(sqlite3_errmsg(db));
  sqlite3_close(db);
}

static void scope(const char *path, const char *out, const char *first, const char *last) {
  char sql[4096], made[1024], piece[1 << 16];
  size_t n;
  snprintf(made, sizeof made, "%s.sqlite", out);
  unlink(made);
  sqlite3 *db = open_database(path);
  snprintf(sql, sizeof sql,
    "ATTACH '%s' AS made; PRAGMA made.journal_mode = OFF; PRAGMA made.synchronous = OFF; BEGIN;"
    "CREATE TABLE made.regions (id TEXT PRIMARY KEY, name TEXT);"
    "CREATE TABLE made.households (id TEXT PRIMARY KEY, region TEXT, head TEXT);"
    "CREATE TABLE made.visits (id TEXT PRIMARY KEY, household TEXT, surveyor TEXT, visited TEXT, persons INTEGER, income REAL, water INTEGER,"
    " latitude REAL, longitude REAL, remark TEXT, state TEXT, photo BLOB);"
    "INSERT INTO made.regions SELECT * FROM main.regions WHERE id BETWEEN '%s' AND '%s';"
    "INSERT INTO made.households SELECT * FROM main.households WHERE region BETWEEN '%s' AND '%s';"
    "INSERT INTO made.visits SELECT v.* FROM main.households h JOIN main.visits v ON v.household = h.id WHERE h.region BETWEEN '%s' AND '%s';"
    "CREATE INDEX made.visits_by_household ON visits (household); COMMIT;",
    made, first, last, first, last, first, last);
  run(db, sql);
  sqlite3_close(db);
  FILE *file = fopen(made, "r");
  if (!file) die("cannot read");
  while ((n = fread(piece, 1, sizeof piece, file)) > 0) put(piece, n);
  write_signed(out);
}

int main(int words, char **word) {
  if (words < 4 || sodium_init() < 0) die("usage: see the source");
  if (!strcmp(word[1], "export") && words == 5) export(word[2], word[3], word[4]);
  else if (!strcmp(word[1], "record") && words == 5) record(word[2], word[3], word[4]);
  else if (!strcmp(word[1], "apply")) apply(word[2], word[3]);
  else if (!strcmp(word[1], "scope") && words == 6) scope(word[2], word[3], word[4], word[5]);
  else die("usage: see the source");
  return 0;
}
