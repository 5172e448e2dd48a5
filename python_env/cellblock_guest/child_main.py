# What a spawned process runs as its main module in place of the session's cells: the cells themselves are not run again, only their
# functions and classes are defined (see children.py).

from cellblock_guest import children

children.fill(globals())
