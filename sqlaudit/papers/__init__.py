"""Tables of the papers that the definitions come from: facts of a few rows, and constructions with known answers."""
