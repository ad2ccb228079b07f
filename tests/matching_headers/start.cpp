// A program that prints that it has started.
#include <cstdio>

#include "crescent/headers_hash.h"

#ifdef OTHER_HEADERS
#undef CRESCENT_HEADERS_HASH
#define CRESCENT_HEADERS_HASH 0x1ull
#endif

#include "crescent/crescent.h"

int main() { std::puts("started"); }
