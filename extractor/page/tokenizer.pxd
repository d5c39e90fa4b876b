# What C knows of tokens.py in the compiled form (setup.py); Python does not read it.
cpdef tuple parse_odd_start_tag(str tag_text)
