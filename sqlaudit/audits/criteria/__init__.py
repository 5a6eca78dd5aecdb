"""What an audit says to the criteria of data protection, one after the other."""
