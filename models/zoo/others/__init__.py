"""Collects models without a card: every file of this folder is imported, and calls `catalogue.register`.

It is imported before the first page is drawn, so it imports torch only when its model is loaded.
"""
