#include "layer/calls/outside_trace.h"

#include "program/recording/recorder.h"

namespace crescent {

OutsideTrace::OutsideTrace() : paused_recorder_(Recorder::set_current(nullptr)) {}
OutsideTrace::~OutsideTrace() { Recorder::set_current(static_cast<Recorder*>(paused_recorder_)); }

}  // namespace crescent
