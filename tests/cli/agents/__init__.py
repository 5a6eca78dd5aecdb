"""What agents may ask, and what they are refused."""
