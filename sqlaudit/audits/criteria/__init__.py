"""An audit by the criteria of data protection."""
