# C types of tokenizer.py for the compiled form (setup.py). Python does not read this file.
cpdef tuple parse_odd_start_tag(str tag_text)
