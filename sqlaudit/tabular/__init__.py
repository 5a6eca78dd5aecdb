"""Published tables of counts and sums: cells that say too much of the few behind them."""
