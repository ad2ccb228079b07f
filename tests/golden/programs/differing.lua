-- Files of `programs` that do not agree yet, and why; programs.lua reads them.
return {}
