// Swift cannot import function-like macros and variadic functions. The needed ones have plain functions here.
#ifndef SATCHEL_CSQLITE_SHIM_H
#define SATCHEL_CSQLITE_SHIM_H

#include <sqlite3.h>

static inline int satchel_bind_text(sqlite3_stmt *s, int i, const void *p, int n) {
  return sqlite3_bind_text(s, i, (const char *)p, n, SQLITE_TRANSIENT);
}
static inline int satchel_bind_blob(sqlite3_stmt *s, int i, const void *p, int n) {
  return n == 0 ? sqlite3_bind_zeroblob(s, i, 0) : sqlite3_bind_blob(s, i, p, n, SQLITE_TRANSIENT);
}
// SQLite makes no copy of these bytes: they must stay in their place until the statement is reset.
static inline int satchel_bind_text_in_place(sqlite3_stmt *s, int i, const void *p, int n) {
  return sqlite3_bind_text(s, i, (const char *)p, n, SQLITE_STATIC);
}
static inline int satchel_bind_blob_in_place(sqlite3_stmt *s, int i, const void *p, int n) {
  return sqlite3_bind_blob(s, i, p, n, SQLITE_STATIC);
}
static inline int satchel_bind_value(sqlite3_stmt *s, int i, const sqlite3_value *v) {
  sqlite3_value *value = (sqlite3_value *)v;
  int is_empty_blob = sqlite3_value_type(value) == SQLITE_BLOB && sqlite3_value_bytes(value) == 0;
  return is_empty_blob ? sqlite3_bind_zeroblob(s, i, 0) : sqlite3_bind_value(s, i, v);
}
static inline int satchel_db_config(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}
// Returns 1 if triggers run in this connection, and 0 if they do not.
static inline int satchel_triggers_run(sqlite3 *db) {
  int on = 1;
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &on);
  return on;
}
static inline int satchel_config_memstatus(int on) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on); }

#endif
