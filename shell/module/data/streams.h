// Streams in Lua: their sources and transformations.
#pragma once
#include "classes/object_types.h"
#include "crescent/data/stream.h"

namespace crescent::lua {

void add_stream_methods(HandleType& dataset);
void add_iterator_type(ObjectTypes& types, const HandleType& object);
std::vector<CallablePtr> stream_functions();

}  // namespace crescent::lua
