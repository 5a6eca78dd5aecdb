"""Several releases of one table over time: m-invariance, and persons whom their presence in releases singles out."""
