"""Terms of the store as concepts, and files of concepts: TBX-Basic, SKOS, CSV.

concept_groups.py  concepts of the accepted terms
checks.py          checks concepts of a file; all errors are named, nothing is changed
formats.py         formats by name
tbx.py, skos.py, concept_csv.py
import_plan.py     what an import adds and changes, as edits of terms
related_import.py  what an import changes about related concepts
"""
