"""What programs with a language model may ask: five tools over tables that a person named, and no value of a cell."""
