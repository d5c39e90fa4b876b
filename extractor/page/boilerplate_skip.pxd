# C types of boilerplate_skip.py for the compiled form (setup.py). Python does not read this file.
cimport cython

@cython.locals(tag_text=str, text=str, name=str, tag=str, end_tag=str, position=Py_ssize_t, depth=Py_ssize_t, element_count=Py_ssize_t, in_link=bint, checks_years=bint, size=double)
cpdef scan_element(list tokens, Py_ssize_t start, tag_info, Py_ssize_t max_tokens)
@cython.locals(size=double)
cpdef double count_text_run(scan, str text, bint in_link) except -1
