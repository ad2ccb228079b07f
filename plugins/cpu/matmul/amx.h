// Products of bfloat16 matrices on AMX tiles, on the calling thread. A tile holds 16 rows of 64
// bytes. Operands are packed into strips: 16 rows of a, or 16 columns of b, cut into steps of 32
// along k; a step of a strip is a tile.
//
// Products of float32 matrices too, as exact as those of the vector units: a float32 value is the
// sum of three bfloat16 values of 8 bits each, and of their nine products the six that float32 can
// tell from rounding are added up. A step of a strip is three tiles then. Infinities and NaN become
// NaN, wherever they are: who wants them looks for them in the result. Values below 2^-110 keep
// fewer bits, as the last of their parts are below the smallest normal number.
#pragma once
#include <cstdint>

#include "kernel/post_ops.h"
#include "threads/pool.h"

namespace crescent::cpu::amx {

inline constexpr int64_t kLines = 16;          ///< rows or columns of a strip
inline constexpr int64_t kBlock = 2 * kLines;  ///< rows and columns of what is multiplied at a time
inline constexpr int64_t kDepth = 32;          ///< values along k of a step
inline constexpr int64_t kTileValues = kLines * kDepth;

/// The processor has tiles for bfloat16, the system lets this process use them, and AVX-512 is not
/// disabled in Highway.
bool available();

/// While alive, the calling thread has its tiles set up.
class Tiles {
 public:
  Tiles();
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

/// What values of operands become.
enum class Form {
  rounded /* one bfloat16 value */,
  split /* the three that make up a float32 value */
};
inline constexpr int64_t parts(Form form) { return form == Form::split ? 3 : 1; }

inline int64_t steps(int64_t depth) { return pieces(depth, kDepth); }
/// Values of a packed strip.
inline int64_t strip_values(int64_t depth, Form form = Form::rounded) {
  return steps(depth) * kTileValues * parts(form);
}

/// The order of a matrix in memory, seen as lines (rows of a, columns of b) of values along k.
enum class LineOrder { lines_in_rows, lines_in_columns };

/// Packs lines into strips `stride` values apart; what is missing to whole tiles is zeros. T is
/// uint16_t (bfloat16, which is not split) or float; ld counts values between the rows of memory. A
/// left tile is a row a line; a right tile is a row of 32 values a pair along k, so that a strip
/// may be read from any pair on.
template <class T>
void pack_left(const T* from, int64_t ld, LineOrder order, int64_t lines, int64_t depth,
               uint16_t* to, int64_t stride, Form form = Form::rounded);
template <class T>
void pack_right(const T* from, int64_t ld, LineOrder order, int64_t lines, int64_t depth,
                uint16_t* to, int64_t stride, Form form = Form::rounded);

/// What pack_right() has split: to (depth, lines), whose rows are `ld` apart. NaN may become
/// infinity, as does what is within a 512th of the largest value.
void join_right(const uint16_t* strip, int64_t lines, int64_t depth, float* to, int64_t ld);

/// Strips of a, where each begins, and how far it is, in values, to the next row of a tile, to the
/// next step, and to the next run of steps.
struct LeftStrips {
  const uint16_t* strips[4];
  int64_t row = kDepth, step = kTileValues, run = 0;
};
/// Strips of b; their steps are contiguous.
struct RightStrips {
  const uint16_t* strips[4];
};

/// How many strips of a and of b are multiplied at a time: four sums in all.
enum class Block { square /* 2 x 2 */, tall /* 4 x 1 */, wide /* 1 x 4 */ };
inline constexpr int64_t left_strips(Block block) {
  return block == Block::square ? 2 : block == Block::tall ? 4 : 1;
}
inline constexpr int64_t right_strips(Block block) { return 4 / left_strips(block); }
inline constexpr int64_t kBlockValues = 4 * kLines * kLines;

/// c (lines of the left strips, lines of the right strips) = a b, or += where `add`, of `runs`
/// times `steps`. Needs Tiles.
void multiply(Block block, const LeftStrips& a, const RightStrips& b, int64_t steps, int64_t runs,
              float* c, bool add);

/// Where the sums of a square block go: c (rows, columns) = relu(combine(sums + total, other) +
/// bias), of which all but sums and c may be left out. Rows of c and of `other` are `ld` apart;
/// `total` is a block like the sums, `bias` has 32 values.
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

/// multiply() of a square block of split values into the sums of `result`, whose memory is fetched
/// meanwhile. Between the multiplications the sums of `earlier` are stored, if it has rows. False
/// when one of those is no finite number.
bool multiply_split(const LeftStrips& a, const RightStrips& b, int64_t steps, const Result& result,
                    const Result& earlier);
/// Alone.
bool store(const Result& result);

/// sums (columns) += x (rows, columns), whose rows are `ld` apart.
void add_rows(const float* x, int64_t ld, int64_t rows, int64_t columns, float* sums);

/// All are numbers.
bool all_finite(const uint16_t* values, int64_t count);

/// to (rows, columns) = from + bias, which may be null, not less than 0 where `relu`; rounded where
/// T is uint16_t (bfloat16). NaN stays NaN. Rows of `from` are `width` apart.
template <class T>
void store(const float* from, int64_t width, int64_t rows, int64_t columns, const float* bias,
           bool relu, T* to, int64_t ld);

}  // namespace crescent::cpu::amx
