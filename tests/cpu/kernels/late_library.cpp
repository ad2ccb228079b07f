// Libraries that are loaded when one of their functions is first called.
#include "libraries/lazy_library.h"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstring>

using namespace crescent::cpu;
using Catch::Contains;

namespace {

/// zlib under a path that does not exist. The dynamic linker can find the library by its file name.
const LazyLibrary& compression() {
  static const LazyLibrary library("/nowhere/libz.so.1");
  return library;
}

}  // namespace

TEST_CASE("a library is found by its file name where its path is gone") {
  REQUIRE(compression().is_available());
  const auto version = lazy_function<"zlibVersion", decltype(&::zlibVersion)>(compression);
  CHECK(std::strlen(version()) > 0);
  CHECK(version == lazy_function<"zlibVersion", decltype(&::zlibVersion)>(compression));
  CHECK_THROWS_WITH(compression().find("no_such_function"),
                    "the library /nowhere/libz.so.1 has no function 'no_such_function'");
}

TEST_CASE("a library that is missing is told when one of its functions is called") {
  const LazyLibrary library("/nowhere/libnothing.so.7");
  CHECK_FALSE(library.is_available());
  CHECK_THROWS_WITH(
      library.find("f"),
      Contains("the library /nowhere/libnothing.so.7 cannot be loaded: libnothing.so.7"));
}
