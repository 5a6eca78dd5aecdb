"""The server over real sessions of the SDK, in an environment that has it."""
