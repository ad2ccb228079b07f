// Products of bfloat16 matrices on AMX tiles, on the calling thread. A tile holds 16 rows of 64
// bytes. Operands are packed into strips: 16 rows of a, or 16 columns of b, in steps of 32 along k;
// one step of a strip is one tile. Processors that have no tiles but AVX-512 instructions for pairs
// of bfloat16 values multiply the same strips by vectors.
//
// On tiles, products of float32 matrices are as exact as those of the vector units: a float32 value
// is split into the sum of three bfloat16 values of 8 bits each, and of their nine products the six
// above the rounding error of float32 are summed. One step of a strip is then three tiles.
// Infinities and NaN become NaN, so callers check results for them. Values below 2^-110 keep fewer
// bits, because their lowest parts are below the smallest normal number.
#pragma once
#include <cstdint>

#include "kernel/post_ops.h"
#include "threads/pool.h"

namespace crescent::cpu::amx {

inline constexpr int64_t kLines = 16;          ///< rows or columns per strip
inline constexpr int64_t kBlock = 2 * kLines;  ///< rows and columns of a square block
inline constexpr int64_t kDepth = 32;          ///< values along k per step
inline constexpr int64_t kTileValues = kLines * kDepth;

/// True when the processor has tiles for bfloat16, the system lets this process use them, and
/// AVX-512 is not disabled in Highway.
bool has_tiles();
/// True when the processor has AVX-512 instructions for pairs of bfloat16 values, and AVX-512 is
/// not disabled in Highway.
bool has_vectors();
/// True when rounded values can be multiplied; split ones need tiles.
inline bool available() { return has_tiles() || has_vectors(); }
/// The name of the instructions that multiply, for profiles.
inline const char* name() { return has_tiles() ? "amx" : "avx512 bf16"; }

/// Configures the tile registers of the calling thread, if there are any, during the lifetime of
/// this object.
class Tiles {
 public:
  Tiles();
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

/// The form in which values of operands are packed.
enum class Form {
  rounded /* one bfloat16 value */,
  split /* the three that make up a float32 value */
};
inline constexpr int64_t parts(Form form) { return form == Form::split ? 3 : 1; }

inline int64_t steps(int64_t depth) { return pieces(depth, kDepth); }
/// The number of values in a packed strip.
inline int64_t strip_values(int64_t depth, Form form = Form::rounded) {
  return steps(depth) * kTileValues * parts(form);
}

/// The memory layout of a matrix of lines; a line is a row of a or a column of b and contains
/// values along k.
enum class LineOrder { lines_in_rows, lines_in_columns };

/// Packs lines into strips that are `stride` values apart; incomplete tiles are filled with zeros.
/// T is uint16_t (bfloat16, never split) or float; ld is the number of values between rows of
/// memory. A tile of the left operand has a row per line. A tile of the right operand has a row of
/// 32 values for each pair along k, so that a strip can be read from any pair on.
template <class T>
void pack_left(const T* from, int64_t ld, LineOrder order, int64_t lines, int64_t depth,
               uint16_t* to, int64_t stride, Form form = Form::rounded);
template <class T>
void pack_right(const T* from, int64_t ld, LineOrder order, int64_t lines, int64_t depth,
                uint16_t* to, int64_t stride, Form form = Form::rounded);

/// Converts a strip that pack_right() has split back to float32 values (depth, lines), whose rows
/// are `ld` apart. NaN may become infinity, and so may values within a 512th of the largest finite
/// number.
void join_right(const uint16_t* strip, int64_t lines, int64_t depth, float* to, int64_t ld);

/// Strips of a: pointers to their beginnings, and distances in values.
struct LeftStrips {
  const uint16_t* strips[4];
  int64_t row_stride = kDepth;        ///< the distance to the next row of a tile
  int64_t step_stride = kTileValues;  ///< the distance to the next step
  int64_t run_stride = 0;             ///< the distance to the next run of steps
};
/// Pointers to up to four packed strips of b; the steps of a strip follow one another in memory.
struct RightStrips {
  const uint16_t* strips[4];
};

/// The numbers of strips of a and of b that are multiplied at the same time; all of them give four
/// tiles of sums.
enum class Block { square /* 2 x 2 */, tall /* 4 x 1 */, wide /* 1 x 4 */ };
inline constexpr int64_t left_strips(Block block) {
  return block == Block::square ? 2 : block == Block::tall ? 4 : 1;
}
inline constexpr int64_t right_strips(Block block) { return 4 / left_strips(block); }
inline constexpr int64_t kBlockValues = 4 * kLines * kLines;

/// Computes c (lines of a, lines of b) = a b, or c += a b if `add`, over `runs` runs of `steps`
/// steps. A strip that is named several times in succession may be multiplied only the first time;
/// the sums of the others are then undefined. Denormal numbers count as zeros. The calling thread
/// needs an object of class Tiles.
void multiply(Block block, const LeftStrips& a, const RightStrips& b, int64_t steps, int64_t runs,
              float* c, bool add);

/// The destination of the sums of a square block: c (rows, columns) = relu(combine(sums + total,
/// other) + bias), where all except sums and c is optional. Rows of c and `other` are `ld` apart;
/// `total` has the layout of the sums, `bias` has 32 values.
struct Result {
  float* sums = nullptr;
  int64_t rows = 0, columns = 0;
  float* c = nullptr;
  int64_t ld = 0;
  const float* total = nullptr;
  const float* bias = nullptr;
  Combine combine = Combine::none;
  const float* other = nullptr;
  bool relu = false;
};

/// Multiplies a square block of split values and leaves the sums in `result.sums`; the memory to
/// which they will be written is prefetched. Between the multiplications the sums of `earlier`, if
/// it has rows, are written to their destination; returns false if one of those is not finite.
bool multiply_split(const LeftStrips& a, const RightStrips& b, int64_t steps, const Result& result,
                    const Result& earlier);
/// Writes the sums of `result` to their destination; returns false if one of them is not finite.
bool store(const Result& result);

/// Adds the column sums of x (rows, columns), whose rows are `ld` apart, to sums (columns).
void add_rows(const float* x, int64_t ld, int64_t rows, int64_t columns, float* sums);

/// True when no value is infinite or NaN.
bool all_finite(const uint16_t* values, int64_t count);

/// Writes to (rows, columns) = from + bias, with relu if `relu`; bias may be null. Values are
/// rounded if T is uint16_t (bfloat16), and NaN remains NaN. Rows of `from` are `width` apart.
template <class T>
void store(const float* from, int64_t width, int64_t rows, int64_t columns, const float* bias,
           bool relu, T* to, int64_t ld);

}  // namespace crescent::cpu::amx
