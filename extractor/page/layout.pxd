# What C knows of layout.py in the compiled form (setup.py); Python does not read it.
cimport cython

@cython.locals(compact=str)
cpdef double text_size(str text) except -1
