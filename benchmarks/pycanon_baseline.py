"""pycanon's nine metrics on one Parquet file, in an environment of its own (pip install pycanon pyarrow).

    python pycanon_baseline.py people.parquet age,sex,zip,race condition

Prints seconds and the peak memory as JSON.
"""

import json
import resource
import sys
import time

import pandas as pd
from pycanon import anonymity

path, keys, sensitive = sys.argv[1], sys.argv[2].split(","), sys.argv[3]
table = pd.read_parquet(path, columns=[*keys, sensitive])
begun = time.perf_counter()
anonymity.k_anonymity(table, keys)
anonymity.alpha_k_anonymity(table, keys, [sensitive])
anonymity.l_diversity(table, keys, [sensitive])
anonymity.entropy_l_diversity(table, keys, [sensitive])
anonymity.recursive_c_l_diversity(table, keys, [sensitive])
anonymity.basic_beta_likeness(table, keys, [sensitive])
anonymity.enhanced_beta_likeness(table, keys, [sensitive])
anonymity.t_closeness(table, keys, [sensitive])
anonymity.delta_disclosure(table, keys, [sensitive])
seconds = time.perf_counter() - begun
print(json.dumps({"seconds": seconds, "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
