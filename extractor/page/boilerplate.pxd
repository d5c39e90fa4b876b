# What C knows of boilerplate.py in the compiled form (setup.py); Python does not read it.
cimport cython

@cython.locals(head=str, text=str, name=str, tag=str, close=str, place=Py_ssize_t, depth=Py_ssize_t, elements=Py_ssize_t, in_link=bint, dated=bint, size=double)
cpdef scan(list tokens, Py_ssize_t at, facts, Py_ssize_t most)
@cython.locals(size=double)
cpdef double count(found, str text, bint in_link) except -1
