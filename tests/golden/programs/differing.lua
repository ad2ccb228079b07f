-- Files of `programs` that do not agree yet, with the reason; used by programs.lua.
return {}
