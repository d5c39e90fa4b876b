# What C knows of lines.py in the compiled form (setup.py); Python does not read it.
cimport cython

cdef class _Reader:
    cdef public object layout
    cdef public object head
    cdef public list open
    cdef public list parts
    cdef public list anchors
    cdef public tuple link
    cdef public list strong
    cdef public Py_ssize_t strong_start
    cdef public list inline
    cdef public Py_ssize_t elements
    cdef public Py_ssize_t may_scan
    cdef public Py_ssize_t blank
    cdef public Py_ssize_t code

    @cython.locals(parts=list, tokens=list, at=Py_ssize_t, end=Py_ssize_t, behind=Py_ssize_t, head=str, text=str, name=str, attributes=str)
    cpdef read(self, str markup, bint whole)
    cpdef Py_ssize_t enter_block(self, str tag, str attributes, list tokens, Py_ssize_t at) except -2
    @cython.locals(empty=bint)
    cpdef enter(self, str tag, str attributes)
    cpdef leave(self, str tag)
    @cython.locals(start=Py_ssize_t, parent=Py_ssize_t, spans=list, opened=list)
    cpdef open_span(self, str tag, str attributes)
    @cython.locals(place=Py_ssize_t)
    cpdef close_span(self, str tag)
    @cython.locals(start=Py_ssize_t, attributes=str)
    cpdef leave_link(self)
    cpdef enter_inline(self, str tag, str attributes)
    @cython.locals(parts=list, here=Py_ssize_t)
    cpdef bint shows_text(self) except -1
    @cython.locals(parts=list, link=tuple, strong_open=bint, raw=str, text=str)
    cpdef flush(self)
