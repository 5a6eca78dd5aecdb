"""Persons in many rows: what somebody who knows a few of their events learns."""
