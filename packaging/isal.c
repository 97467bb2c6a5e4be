/* Debian has ISA-L only as a shared library, which cannot be linked into a static program. These functions stand in its place there: the ones that
   Satchel calls, with the same results. They compute in GF(2^8) with the polynomial 0x11d, as docs/FORMAT.md defines parity volumes. */
#include <string.h>

/* The bytes that a caller sets aside for each coefficient. Only the first is used here. */
enum { TABLE = 32 };

static unsigned char doubled(unsigned char value) { return (unsigned char)(value << 1) ^ (unsigned char)(0x1d & -(value >> 7)); }

static unsigned char multiply(unsigned char left, unsigned char right) {
  unsigned char product = 0;
  for (int bit = 0; bit < 8; bit++, left = doubled(left)) product ^= (unsigned char)(left & -(right >> bit & 1));
  return product;
}

/* The inverse of a value other than 0 is its power 254, because its power 255 is 1. */
static unsigned char inverse(unsigned char value) {
  unsigned char power = 1;
  for (int times = 0; times < 254; times++) power = multiply(power, value);
  return power;
}

void gf_gen_cauchy1_matrix(unsigned char *matrix, int rows, int columns) {
  for (int row = 0; row < rows; row++)
    for (int column = 0; column < columns; column++)
      *matrix++ = row < columns ? row == column : inverse((unsigned char)(row ^ column));
}

/* Adds a multiple of one row to another row. */
static void add_row(unsigned char *to, const unsigned char *from, unsigned char factor, int count) {
  for (int place = 0; place < count; place++) to[place] ^= multiply(from[place], factor);
}

static void scale_row(unsigned char *row, unsigned char factor, int count) {
  for (int place = 0; place < count; place++) row[place] = multiply(row[place], factor);
}

/* Inverts a square matrix, and destroys it. Returns -1 if it has no inverse. */
int gf_invert_matrix(unsigned char *matrix, unsigned char *inverted, const int count) {
  for (int row = 0; row < count; row++)
    for (int column = 0; column < count; column++) inverted[row * count + column] = row == column;
  for (int step = 0; step < count; step++) {
    unsigned char *pivot = matrix + step * count, *of_pivot = inverted + step * count;
    for (int row = step + 1; pivot[step] == 0 && row < count; row++)
      if (matrix[row * count + step]) {
        add_row(pivot, matrix + row * count, 1, count);
        add_row(of_pivot, inverted + row * count, 1, count);
      }
    if (pivot[step] == 0) return -1;
    unsigned char factor = inverse(pivot[step]);
    scale_row(pivot, factor, count);
    scale_row(of_pivot, factor, count);
    for (int row = 0; row < count; row++) {
      unsigned char rest = matrix[row * count + step];
      if (row == step || rest == 0) continue;
      add_row(matrix + row * count, pivot, rest, count);
      add_row(inverted + row * count, of_pivot, rest, count);
    }
  }
  return 0;
}

void ec_init_tables(int columns, int rows, unsigned char *matrix, unsigned char *tables) {
  for (int place = 0; place < columns * rows; place++) tables[place * TABLE] = matrix[place];
}

/* Adds a multiple of many bytes. The compiler makes vector instructions of this loop: it has no table and no branch. */
static void add_multiple(unsigned char *restrict to, const unsigned char *restrict from, unsigned char factor, int count) {
  for (int place = 0; place < count; place++) to[place] ^= multiply(from[place], factor);
}

void ec_encode_data(int bytes, int columns, int rows, unsigned char *tables, unsigned char **sources, unsigned char **targets) {
  for (int row = 0; row < rows; row++) {
    memset(targets[row], 0, (size_t)bytes);
    for (int column = 0; column < columns; column++)
      add_multiple(targets[row], sources[column], tables[(row * columns + column) * TABLE], bytes);
  }
}
