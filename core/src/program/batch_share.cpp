#include "program/batch_share.h"

#include <utility>

namespace crescent {
namespace {

thread_local Share innermost_share;

}  // namespace

ShareScope::ShareScope(const Share& share) : outer_share_(std::exchange(innermost_share, share)) {}
ShareScope::~ShareScope() { innermost_share = outer_share_; }
const Share& ShareScope::current() { return innermost_share; }

}  // namespace crescent
