# What an uploaded file is: kind, encoding, columns, first rows, and the pandas code that reads it rightly. Runs in a worker of its own
# in a jail; the file is hostile, so every read, table and text has a limit, and a file that cannot be read gives an answer with an error.

