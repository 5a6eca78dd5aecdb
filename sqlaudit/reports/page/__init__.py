"""One self-contained page from a document: no script, no request, light and dark, readable on a phone and on paper."""
