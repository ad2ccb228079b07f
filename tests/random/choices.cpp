#include "random/choices.h"

namespace crescent::random_programs {

/// Mixes the seed so that the streams of consecutive seeds are unrelated.
Choices::Choices(uint64_t seed) : state_(seed * 0xd1342543de82ef95ull + 0x2545f4914f6cdd1dull) {
  state_ = (uint64_t{draw()} << 32) ^ draw() ^ seed;
}

uint32_t Choices::draw() {  // one step of the generator splitmix64
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<uint32_t>((z ^ (z >> 31)) >> 32);
}

int64_t Choices::below(int64_t count) {
  const size_t index = recorded_choices_.size();
  const uint32_t drawn_number = !replays_                          ? draw()
                                : index < replayed_choices_.size() ? replayed_choices_[index]
                                                                   : 0;
  recorded_choices_.push_back(count > 0 ? drawn_number % static_cast<uint32_t>(count) : 0);
  return recorded_choices_.back();
}

}  // namespace crescent::random_programs
