-- The files of the folder `programs` of recorded cases whose results differ from those of Keras,
-- with the reason; programs.lua reads this table.
return {}
