"""The kinds of panel, a file each; a new one is a new file here."""
