// What this process is computing at the moment. If a process waits too long for others, its
// communicator asks these processes, and a thread of each of them answers with its activity.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "crescent/base/export.h"

namespace crescent {

/// Whether this process records what it computes, so that activity() can return it; initially it
/// does not.
CRESCENT_API bool is_tracking_activity();
/// Sets whether this process tracks its activity; a communicator of several processes passes true.
CRESCENT_API void set_activity_tracking(bool on);
/// Records that the process begins batch `number`, counted from 1, of `run`, such as "fit".
CRESCENT_API void enter_batch(const char* run, int64_t number);
/// Records that the process begins an instruction of the op `op`, which the layer `scope` recorded.
CRESCENT_API void enter_instruction(std::string_view op, std::string_view scope);
/// Records that no program is running.
CRESCENT_API void leave_program();
/// Returns a text such as "in layer `pool` of batch 117 of fit for 5.1 s". Any thread may call
/// activity().
CRESCENT_API std::string activity();
/// Returns the running instruction, such as "all_reduce of `dense/kernel`"; empty if no program is
/// running.
CRESCENT_API std::string running_instruction();

}  // namespace crescent
