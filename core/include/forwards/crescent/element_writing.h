#pragma once
#include "crescent/program/element_writing.h"
