/* sqlaudit: weighted_classes */
WITH target AS (
    SELECT
        "zip" AS q1,
        "w" AS s
    FROM patients
),
classes AS (
    SELECT q1, COUNT(*) AS members, SUM(CAST(s AS DECIMAL(18, 6))) AS people
    FROM target
    GROUP BY q1
),
shares AS (
    SELECT members, people, CAST(members AS DOUBLE) / CAST(NULLIF(people, 0) AS DOUBLE) AS p
    FROM classes
    WHERE members > 0
),
risks AS (
    SELECT
        members,
        people,
        CASE
            WHEN people <= members THEN 1.0 / CAST(members AS DOUBLE)
            WHEN p > 0.5 THEN (1.0 / (members + 0) - (1 - p) / p * (1.0 / (members + 1) - (1 - p) / p * (1.0 / (members + 2) - (1 - p) / p * (1.0 / (members + 3) - (1 - p) / p * (1.0 / (members + 4) - (1 - p) / p * (1.0 / (members + 5) - (1 - p) / p * (1.0 / (members + 6) - (1 - p) / p * (1.0 / (members + 7) - (1 - p) / p * (1.0 / (members + 8) - (1 - p) / p * (1.0 / (members + 9) - (1 - p) / p * (1.0 / (members + 10) - (1 - p) / p * (1.0 / (members + 11) - (1 - p) / p * (2.64731371055436537e-01 * p / (p + (1 - p) * EXP(-1.15722117358020501e-01 / (members + 12))) + 3.77759275873142120e-01 * p / (p + (1 - p) * EXP(-6.11757484515130789e-01 / (members + 12))) + 2.44082011319879055e-01 * p / (p + (1 - p) * EXP(-1.51261026977641899e+00 / (members + 12))) + 9.04492222116818206e-02 * p / (p + (1 - p) * EXP(-2.83375133774350685e+00 / (members + 12))) + 2.01023811546342177e-02 * p / (p + (1 - p) * EXP(-4.59922763941834845e+00 / (members + 12))) + 2.66397354186533345e-03 * p / (p + (1 - p) * EXP(-6.84452545311517735e+00 / (members + 12))) + 2.03231592663001310e-04 * p / (p + (1 - p) * EXP(-9.62131684245686714e+00 / (members + 12))) + 8.36505585681992591e-06 * p / (p + (1 - p) * EXP(-1.30060549933063481e+01 / (members + 12))) + 1.66849387654092118e-07 * p / (p + (1 - p) * EXP(-1.71168551874622565e+01 / (members + 12))) + 1.34239103051500409e-09 * p / (p + (1 - p) * EXP(-2.21510903793970044e+01 / (members + 12))) + 3.06160163503510228e-12 * p / (p + (1 - p) * EXP(-2.84879672509839992e+01 / (members + 12))) + 8.14807746742609352e-16 * p / (p + (1 - p) * EXP(-3.70991210444669193e+01 / (members + 12)))) / (members + 12)))))))))))))
            WHEN members = 1 THEN (p / (1 - p)) * LN(1 / p)
            WHEN members = 2 THEN (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))
            WHEN members = 3 THEN (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))
            WHEN members = 4 THEN (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))
            WHEN members = 5 THEN (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))))
            WHEN members = 6 THEN (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))))
            WHEN members = 7 THEN (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))))))
            WHEN members = 8 THEN (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))))))
            WHEN members = 9 THEN (p / (1 - p)) * (1.0 / 8 - (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))))))))
            WHEN members = 10 THEN (p / (1 - p)) * (1.0 / 9 - (p / (1 - p)) * (1.0 / 8 - (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))))))))
            WHEN members = 11 THEN (p / (1 - p)) * (1.0 / 10 - (p / (1 - p)) * (1.0 / 9 - (p / (1 - p)) * (1.0 / 8 - (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))))))))))
            WHEN members = 12 THEN (p / (1 - p)) * (1.0 / 11 - (p / (1 - p)) * (1.0 / 10 - (p / (1 - p)) * (1.0 / 9 - (p / (1 - p)) * (1.0 / 8 - (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))))))))))
            ELSE (2.64731371055436537e-01 * p / (p + (1 - p) * EXP(-1.15722117358020501e-01 / (members))) + 3.77759275873142120e-01 * p / (p + (1 - p) * EXP(-6.11757484515130789e-01 / (members))) + 2.44082011319879055e-01 * p / (p + (1 - p) * EXP(-1.51261026977641899e+00 / (members))) + 9.04492222116818206e-02 * p / (p + (1 - p) * EXP(-2.83375133774350685e+00 / (members))) + 2.01023811546342177e-02 * p / (p + (1 - p) * EXP(-4.59922763941834845e+00 / (members))) + 2.66397354186533345e-03 * p / (p + (1 - p) * EXP(-6.84452545311517735e+00 / (members))) + 2.03231592663001310e-04 * p / (p + (1 - p) * EXP(-9.62131684245686714e+00 / (members))) + 8.36505585681992591e-06 * p / (p + (1 - p) * EXP(-1.30060549933063481e+01 / (members))) + 1.66849387654092118e-07 * p / (p + (1 - p) * EXP(-1.71168551874622565e+01 / (members))) + 1.34239103051500409e-09 * p / (p + (1 - p) * EXP(-2.21510903793970044e+01 / (members))) + 3.06160163503510228e-12 * p / (p + (1 - p) * EXP(-2.84879672509839992e+01 / (members))) + 8.14807746742609352e-16 * p / (p + (1 - p) * EXP(-3.70991210444669193e+01 / (members)))) / (members)
        END AS risk
    FROM shares
)
SELECT
    MIN(people) AS fewest,
    COUNT(*) AS classes,
    COALESCE(SUM(CASE WHEN people < members THEN 1 ELSE 0 END), 0) AS too_light,
    COALESCE(SUM(CASE WHEN people < 5 THEN 1 ELSE 0 END), 0) AS failing,
    COALESCE(SUM(CASE WHEN people < 5 THEN members ELSE 0 END), 0) AS failing_rows,
    SUM(members * risk) AS journalist,
    SUM(CAST(members AS DOUBLE) / CAST(people AS DOUBLE)) AS marketer
FROM risks
