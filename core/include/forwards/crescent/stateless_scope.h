#pragma once
#include "crescent/program/stateless_scope.h"
