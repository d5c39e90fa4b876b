# C types of layout_builder.py for the compiled form (setup.py). Python does not read this file.
cimport cython

cdef class _LayoutBuilder:
    cdef public object layout
    cdef public object head
    cdef public list open_spans
    cdef public list text_pieces
    cdef public list links
    cdef public tuple open_link
    cdef public list strong_ranges
    cdef public Py_ssize_t strong_start
    cdef public list open_inline
    cdef public Py_ssize_t element_index
    cdef public Py_ssize_t scan_budget
    cdef public Py_ssize_t blank_pieces
    cdef public Py_ssize_t open_pre_span

    cpdef run(self, list tokens, bint complete)
    @cython.locals(parts=list, open_spans=list, spans=list, lines=list, end_position=Py_ssize_t, tag_text=str, text=str, name=str, attributes=str)
    cpdef read_tokens(self, list tokens, Py_ssize_t position, Py_ssize_t end)
    @cython.locals(is_empty=bint)
    cpdef start_element(self, str tag, str attribute_text)
    cpdef end_element(self, str tag)
    @cython.locals(start=Py_ssize_t, parent=Py_ssize_t, spans=list, open_spans=list)
    cpdef open_span(self, str tag, str attribute_text)
    @cython.locals(span_index=Py_ssize_t)
    cpdef close_span(self, str tag)
    @cython.locals(start=Py_ssize_t, attributes=str)
    cpdef end_link(self)
    cpdef start_inline(self, str tag, str attribute_text)
    @cython.locals(parts=list, piece_index=Py_ssize_t)
    cpdef bint has_text(self) except -1
    @cython.locals(parts=list, link=tuple, strong_open=bint, raw=str, text=str)
    cpdef flush_line(self)
