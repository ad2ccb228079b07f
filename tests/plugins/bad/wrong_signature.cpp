#include "crescent/io/format.h"
#include "crescent/plugin.h"

using namespace crescent;

struct Notes final : Format {
  static void describe(Schema<Notes>& s) {
    s.doc("x").trait("endings", List{".notes"}).trait("signatures", List{"not hex"});
  }
};

CRESCENT_PLUGIN("bad.wrong_signature", "1.0.0") { registry.add<Notes>("notes"); }
