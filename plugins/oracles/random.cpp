#include "crescent/registry/registration.h"
#include "crescent/search/oracle.h"

namespace crescent {
namespace {

/// Suggests no values, so that all are drawn at random. The values depend only on the seed, the
/// number of the trial and the names of the hyperparameters.
class RandomOracle final : public Oracle {
 public:
  static void describe(Schema<RandomOracle>& s) { s.doc("Chooses by chance."); }
  bool ready(const TrialHistory&, int64_t) const override { return true; }
  std::optional<Suggestion> suggest(const TrialHistory&, int64_t) override { return Suggestion(); }
};

}  // namespace

CRESCENT_REGISTER(random_oracle) { registry.add<RandomOracle>("random"); }

}  // namespace crescent
