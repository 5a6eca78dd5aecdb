"""People with many rows: what someone who knows a few of their events learns."""
