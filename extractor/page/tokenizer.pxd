# C types of tokenizer.py for the compiled form (setup.py). Python does not read this file.
cimport cython

cpdef tuple parse_odd_start_tag(str tag_text)
@cython.locals(tag_text=str, text=str, compact=str, name=str, tag=str, end_tag=str, position=Py_ssize_t, depth=Py_ssize_t, element_count=Py_ssize_t, line_count=Py_ssize_t, link_count=Py_ssize_t, headline_count=Py_ssize_t, end_token=Py_ssize_t, total_size=double, link_size=double, skipped_link_size=double, in_link=bint, checks_years=bint, size=double)
cpdef scan_element(list tokens, Py_ssize_t start, tag_info, Py_ssize_t max_tokens)
