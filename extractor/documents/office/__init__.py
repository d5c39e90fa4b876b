"""Readers for Office and OpenDocument files: zip packages of XML, and the older OLE files."""
