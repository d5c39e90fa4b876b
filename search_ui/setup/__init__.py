"""The setup pages: from an empty folder to the first run of a vertical."""
