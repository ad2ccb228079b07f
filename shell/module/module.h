// The Lua module `crescent`.
#pragma once
#include <lua.hpp>

#include "crescent/base/export.h"

extern "C" CRESCENT_API int luaopen_crescent(lua_State* L);
