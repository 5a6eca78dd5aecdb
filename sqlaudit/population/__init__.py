"""From the sample to the population: what the sizes of the classes tell of people who are not in the table."""
