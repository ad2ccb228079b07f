#include "program/batch_share.h"

#include <utility>

namespace crescent {
namespace {

thread_local bool share_is_empty = false;

}  // namespace

ShareScope::ShareScope(const Share& share)
    : before_(std::exchange(share_is_empty, share && share.count == 0)) {}
ShareScope::~ShareScope() { share_is_empty = before_; }
bool ShareScope::is_empty() { return share_is_empty; }

}  // namespace crescent
