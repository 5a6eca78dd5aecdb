"""Databases behind ADBC drivers: they run SELECTs that were written for their dialect, and nothing else."""
