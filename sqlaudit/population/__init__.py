"""From the sample to the population: what class sizes reveal about people who are not in the table."""
