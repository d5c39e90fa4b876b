# What C knows of tokens.py in the compiled form (setup.py); Python does not read it.
cpdef tuple odd_start(str head)
