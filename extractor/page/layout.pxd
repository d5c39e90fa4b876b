# C types of layout.py for the compiled form (setup.py). Python does not read this file.
cimport cython

@cython.locals(compact=str)
cpdef double text_size(str text) except -1
