"""Two commands of the user, compared: which is faster, by how much, and whether this machine can
tell. The first command is measured twice in each round, so that a difference can be held against
one where there is none.

| module       | what                                                              |
|--------------|-------------------------------------------------------------------|
| programs     | a command, what it is measured by, and a case: which are compared |
| runs         | one run of a command, whole or in turns with others               |
| rounds       | rounds of runs, until the answer is decided or the time is spent  |
| answer       | from the figures of rounds to the answer with its interval        |
| symptoms     | what was wrong with the machine or the commands meanwhile         |
| counted      | instructions and cache misses, counted by cachegrind              |
| revisions    | two commits, checked out and built next to each other             |
| case_files   | cases in a YAML file                                              |
| condition    | what a script forbids: slower, or more instructions, than a share |
| pull_request | which two commits a continuous integration compares               |
"""
