"""Maximum disclosure."""
