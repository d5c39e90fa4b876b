# What C knows of layout.py in the compiled form (setup.py); Python does not read it.
cimport cython

@cython.locals(bare=str)
cpdef double size_of(str text) except -1
