"""Two attacks of scikit-mobility on one CSV file of visits, in an environment of its own that has it.

    python mobility_baseline.py visits.csv 2

A place becomes a point of the map. Prints seconds and what was found as JSON: the fewest persons, persons with a risk
above 1/5, and persons with a risk of 1.
"""

import json
import sys
import time

import pandas as pd
from skmob import TrajDataFrame
from skmob.privacy import attacks

path, known = sys.argv[1], int(sys.argv[2])
visits = pd.read_csv(path)
visits = pd.DataFrame(
    {
        "uid": visits["who"],
        "lat": visits["place"] / 10.0,
        "lng": 0.0,
        "datetime": pd.Timestamp("2024-01-01") + pd.to_timedelta(range(len(visits)), unit="s"),
    }
)
trajectory = TrajDataFrame(visits, latitude="lat", longitude="lng", datetime="datetime", user_id="uid")
found = {}
for name in ("UniqueLocationAttack", "LocationAttack"):
    begun = time.perf_counter()
    risks = getattr(attacks, name)(knowledge_length=known).assess_risk(trajectory)["risk"]
    seconds = round(time.perf_counter() - begun, 2)
    found[name] = {
        "seconds": seconds,
        "smallest": round(1 / risks.max()),
        "exposed": int((risks > 0.2000001).sum()),
        "unique": int((risks > 0.999999).sum()),
    }
print(json.dumps(found))
