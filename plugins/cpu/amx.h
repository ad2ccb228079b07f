// Products of bfloat16 matrices on AMX tiles, on the calling thread. A tile holds 16 rows of 64 bytes. Operands are packed
// into strips: 16 rows of a, or 16 columns of b, cut into steps of 32 along k; a step of a strip is a tile.
#pragma once
#include <cstdint>

namespace crescent::cpu::amx {

inline constexpr int64_t kLines = 16;            ///< rows or columns of a strip
inline constexpr int64_t kBlock = 2 * kLines;    ///< rows and columns of what is multiplied at a time
inline constexpr int64_t kDepth = 32;            ///< values along k of a step
inline constexpr int64_t kTileValues = kLines * kDepth;

/// The processor has tiles for bfloat16, the system lets this process use them, and AVX-512 is not disabled in Highway.
bool available();

/// While alive, the calling thread has its tiles set up.
class Tiles {
 public:
  Tiles();
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

inline int64_t steps(int64_t depth) { return (depth + kDepth - 1) / kDepth; }
/// Values of a packed strip.
inline int64_t strip_values(int64_t depth) { return steps(depth) * kTileValues; }

/// How a matrix lies in memory, seen as lines (rows of a, columns of b) of values along k.
enum class Lie { lines_in_rows, lines_in_columns };

/// Packs lines into strips `stride` values apart, rounding float32 to bfloat16; what is missing to whole tiles is zeros.
/// T is uint16_t (bfloat16) or float; ld counts values between the rows of memory. A left tile is a row a line; a right
/// tile is a row of 32 values a pair along k, so that a strip may be read from any pair on.
template <class T>
void pack_left(const T* from, int64_t ld, Lie lie, int64_t lines, int64_t depth, uint16_t* to, int64_t stride);
template <class T>
void pack_right(const T* from, int64_t ld, Lie lie, int64_t lines, int64_t depth, uint16_t* to, int64_t stride);

/// Strips of a, where each begins, and how far it is, in values, to the next row of a tile, to the next step, and to the
/// next run of steps.
struct Left {
  const uint16_t* strips[4];
  int64_t row = kDepth, step = kTileValues, run = 0;
};
/// Strips of b; their steps are contiguous.
struct Right {
  const uint16_t* strips[4];
};

/// How many strips of a and of b are multiplied at a time: four sums in all.
enum class Block { square /* 2 x 2 */, tall /* 4 x 1 */, wide /* 1 x 4 */ };
inline constexpr int64_t left_strips(Block block) { return block == Block::square ? 2 : block == Block::tall ? 4 : 1; }
inline constexpr int64_t right_strips(Block block) { return 4 / left_strips(block); }
inline constexpr int64_t kBlockValues = 4 * kLines * kLines;

/// c (lines of the left strips, lines of the right strips) = a b, or += where `add`, of `runs` times `steps`. Needs Tiles.
void multiply(Block block, const Left& a, const Right& b, int64_t steps, int64_t runs, float* c, bool add);

/// All are numbers.
bool all_finite(const uint16_t* values, int64_t count);

/// to (rows, columns) = from + bias, which may be null, not less than 0 where `relu`; rounded where T is uint16_t
/// (bfloat16). NaN stays NaN. Rows of `from` are `width` apart.
template <class T>
void store(const float* from, int64_t width, int64_t rows, int64_t columns, const float* bias, bool relu, T* to, int64_t ld);

}  // namespace crescent::cpu::amx
