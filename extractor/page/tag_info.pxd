# C types of tag_info.py for the compiled form (setup.py). Python does not read this file.
cimport cython

@cython.locals(needle=str, start=Py_ssize_t)
cpdef str attribute_value(str name, str attribute_text)
cpdef str unescape_markup(str text)
@cython.locals(kinds=int)
cpdef int classify_names(str names) except -1
cpdef int hint_kind(str name, str lowercase_name) except -1
