# What C knows of markup_hints.py in the compiled form (setup.py); Python does not read it.
cimport cython

@cython.locals(wanted=str, start=Py_ssize_t)
cpdef Py_ssize_t place_of_value(str name, str markup) except -2
@cython.locals(start=Py_ssize_t)
cpdef str value_of(str name, str markup)
cpdef str plain(str text)
@cython.locals(kinds=int)
cpdef int kinds_of(str names) except -1
cpdef int hinting_kind_of(str name, str low) except -1
