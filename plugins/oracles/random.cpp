#include "crescent/registry/registration.h"
#include "crescent/search/oracle.h"

namespace crescent {
namespace {

/// Leaves every choice to chance, which follows from the seed, the trial and the name alone.
class RandomOracle final : public Oracle {
 public:
  static void describe(Schema<RandomOracle>& s) { s.doc("Chooses by chance."); }
  bool ready(const TrialHistory&, int64_t) const override { return true; }
  std::optional<Suggestion> suggest(const TrialHistory&, int64_t) override { return Suggestion(); }
};

}  // namespace

CRESCENT_REGISTER(random_oracle) { registry.add<RandomOracle>("random"); }

}  // namespace crescent
