#pragma once
#include "crescent/io/picture.h"
