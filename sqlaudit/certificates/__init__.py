"""Certificates of audits: what was asked of which table, what was found, and whether that is still so."""
