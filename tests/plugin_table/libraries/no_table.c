// A library whose section .crescent.table contains no valid plugin table.
__attribute__((visibility("default"), used, section(".crescent.table")))
const char crescent_plugin_table[] = "this is no table";
