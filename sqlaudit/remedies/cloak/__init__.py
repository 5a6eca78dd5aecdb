"""Locations and times of messages, cloaked: boxes in which enough different users hide, and the audit of such boxes."""
