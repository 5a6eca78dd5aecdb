"""What published cells and totals together tell of hidden cells, and what must be hidden, too, so that they do not."""
