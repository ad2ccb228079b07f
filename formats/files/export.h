// The macro for symbols that the shared library `crescent_files` exports; all others are hidden.
#pragma once
#define CRESCENT_FILES_API __attribute__((visibility("default")))
