#include "flags.h"
