// Tests of distance.h, with which other tests measure differences: it must not ignore NaN or
// infinities.
#include "distance.h"

#include <catch2/catch.hpp>

using namespace crescent;

TEST_CASE("a NaN or an infinity is far from everything but itself, wherever it stands") {
  using Values = std::vector<double>;
  const Values want{1, 2, NAN, INFINITY, -INFINITY};
  CHECK(farthest(want, want) == 0);
  CHECK(farthest(Values{1.5, 2, NAN, INFINITY, -INFINITY}, want) == 0.5);
  for (size_t i = 0; i < want.size(); ++i)
    for (const double replacement : Values{NAN, INFINITY, -INFINITY, 7}) {
      CAPTURE(i, replacement);
      Values got = want;
      got[i] = replacement;
      const bool is_same =
          replacement == want[i] || (std::isnan(replacement) && std::isnan(want[i]));
      const bool is_finite = std::isfinite(replacement) && std::isfinite(want[i]);
      CHECK(farthest(got, want) == (is_same ? 0 : is_finite ? 7 - want[i] : INFINITY));
    }
  CHECK(farthest(Values{1}, want) == INFINITY);
  CHECK(magnitude(want, 0.5) == 2);
  CHECK(magnitude(Values{NAN}, 0.5) == 0.5);
}
