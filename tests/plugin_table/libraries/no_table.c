// The section of the table contains something else.
__attribute__((visibility("default"), used, section(".crescent.table")))
const char crescent_plugin_table[] = "this is no table";
