#include "registry/blame.h"

#include "registry/registry_state.h"

namespace crescent {

void rethrow_blaming(const ClassInfo* thrower) try { throw; } catch (const Error&) {
  throw;
} catch (...) {
  fail(exception_text(),
       thrower ? concat(" (in ", thrower->name, " of ", describe_origin(*thrower), ")") : "");
}

}  // namespace crescent
