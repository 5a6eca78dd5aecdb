/* sqlaudit: household_risk */
WITH people AS (
    SELECT
        "zip" AS c0,
        CAST("w" AS DECIMAL(18, 6)) AS weight,
        "home" AS household
    FROM patients
),
counted AS (
    SELECT
        household,
        COUNT(*) OVER (PARTITION BY c0) AS f,
        SUM(weight) OVER (PARTITION BY c0) AS population
    FROM people
),
shares AS (
    SELECT household, f, population, CAST(f AS DOUBLE) / CAST(NULLIF(population, 0) AS DOUBLE) AS p
    FROM counted
),
risks AS (
    SELECT
        household,
        CASE
            WHEN population <= f THEN 1.0 / CAST(f AS DOUBLE)
            WHEN p > 0.5 THEN (1.0 / (f + 0) - (1 - p) / p * (1.0 / (f + 1) - (1 - p) / p * (1.0 / (f + 2) - (1 - p) / p * (1.0 / (f + 3) - (1 - p) / p * (1.0 / (f + 4) - (1 - p) / p * (1.0 / (f + 5) - (1 - p) / p * (1.0 / (f + 6) - (1 - p) / p * (1.0 / (f + 7) - (1 - p) / p * (1.0 / (f + 8) - (1 - p) / p * (1.0 / (f + 9) - (1 - p) / p * (1.0 / (f + 10) - (1 - p) / p * (1.0 / (f + 11) - (1 - p) / p * (2.64731371055436537e-01 * p / (p + (1 - p) * EXP(-1.15722117358020501e-01 / (f + 12))) + 3.77759275873142120e-01 * p / (p + (1 - p) * EXP(-6.11757484515130789e-01 / (f + 12))) + 2.44082011319879055e-01 * p / (p + (1 - p) * EXP(-1.51261026977641899e+00 / (f + 12))) + 9.04492222116818206e-02 * p / (p + (1 - p) * EXP(-2.83375133774350685e+00 / (f + 12))) + 2.01023811546342177e-02 * p / (p + (1 - p) * EXP(-4.59922763941834845e+00 / (f + 12))) + 2.66397354186533345e-03 * p / (p + (1 - p) * EXP(-6.84452545311517735e+00 / (f + 12))) + 2.03231592663001310e-04 * p / (p + (1 - p) * EXP(-9.62131684245686714e+00 / (f + 12))) + 8.36505585681992591e-06 * p / (p + (1 - p) * EXP(-1.30060549933063481e+01 / (f + 12))) + 1.66849387654092118e-07 * p / (p + (1 - p) * EXP(-1.71168551874622565e+01 / (f + 12))) + 1.34239103051500409e-09 * p / (p + (1 - p) * EXP(-2.21510903793970044e+01 / (f + 12))) + 3.06160163503510228e-12 * p / (p + (1 - p) * EXP(-2.84879672509839992e+01 / (f + 12))) + 8.14807746742609352e-16 * p / (p + (1 - p) * EXP(-3.70991210444669193e+01 / (f + 12)))) / (f + 12)))))))))))))
            WHEN f = 1 THEN (p / (1 - p)) * LN(1 / p)
            WHEN f = 2 THEN (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))
            WHEN f = 3 THEN (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))
            WHEN f = 4 THEN (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))
            WHEN f = 5 THEN (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))))
            WHEN f = 6 THEN (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))))
            WHEN f = 7 THEN (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))))))
            WHEN f = 8 THEN (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))))))
            WHEN f = 9 THEN (p / (1 - p)) * (1.0 / 8 - (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))))))))
            WHEN f = 10 THEN (p / (1 - p)) * (1.0 / 9 - (p / (1 - p)) * (1.0 / 8 - (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))))))))
            WHEN f = 11 THEN (p / (1 - p)) * (1.0 / 10 - (p / (1 - p)) * (1.0 / 9 - (p / (1 - p)) * (1.0 / 8 - (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p)))))))))))
            WHEN f = 12 THEN (p / (1 - p)) * (1.0 / 11 - (p / (1 - p)) * (1.0 / 10 - (p / (1 - p)) * (1.0 / 9 - (p / (1 - p)) * (1.0 / 8 - (p / (1 - p)) * (1.0 / 7 - (p / (1 - p)) * (1.0 / 6 - (p / (1 - p)) * (1.0 / 5 - (p / (1 - p)) * (1.0 / 4 - (p / (1 - p)) * (1.0 / 3 - (p / (1 - p)) * (1.0 / 2 - (p / (1 - p)) * (1.0 / 1 - (p / (1 - p)) * LN(1 / p))))))))))))
            ELSE (2.64731371055436537e-01 * p / (p + (1 - p) * EXP(-1.15722117358020501e-01 / (f))) + 3.77759275873142120e-01 * p / (p + (1 - p) * EXP(-6.11757484515130789e-01 / (f))) + 2.44082011319879055e-01 * p / (p + (1 - p) * EXP(-1.51261026977641899e+00 / (f))) + 9.04492222116818206e-02 * p / (p + (1 - p) * EXP(-2.83375133774350685e+00 / (f))) + 2.01023811546342177e-02 * p / (p + (1 - p) * EXP(-4.59922763941834845e+00 / (f))) + 2.66397354186533345e-03 * p / (p + (1 - p) * EXP(-6.84452545311517735e+00 / (f))) + 2.03231592663001310e-04 * p / (p + (1 - p) * EXP(-9.62131684245686714e+00 / (f))) + 8.36505585681992591e-06 * p / (p + (1 - p) * EXP(-1.30060549933063481e+01 / (f))) + 1.66849387654092118e-07 * p / (p + (1 - p) * EXP(-1.71168551874622565e+01 / (f))) + 1.34239103051500409e-09 * p / (p + (1 - p) * EXP(-2.21510903793970044e+01 / (f))) + 3.06160163503510228e-12 * p / (p + (1 - p) * EXP(-2.84879672509839992e+01 / (f))) + 8.14807746742609352e-16 * p / (p + (1 - p) * EXP(-3.70991210444669193e+01 / (f)))) / (f)
        END AS risk
    FROM shares
),
homes AS (
    SELECT
        household,
        COUNT(*) AS members,
        MAX(risk) AS surest,
        SUM(
            CASE
                WHEN risk >= 1 THEN 0
                WHEN risk < 0.001 THEN -risk * (1 + risk * (1.0 / 2 + risk * (1.0 / 3 + risk * (1.0 / 4 + risk / 5))))
                ELSE LN(1 - risk)
            END
        ) AS kept
    FROM risks
    GROUP BY household
),
found AS (
    SELECT
        household,
        members,
        CASE
            WHEN surest >= 1 THEN 1.0
            WHEN kept > -0.001 THEN -kept * (1 + kept * (1.0 / 2 + kept * (1.0 / 6 + kept * (1.0 / 24 + kept / 120))))
            ELSE 1 - EXP(kept)
        END AS risk
    FROM homes
)
SELECT
    COUNT(*) AS households,
    COALESCE(SUM(CASE WHEN household IS NULL THEN members ELSE 0 END), 0) AS homeless,
    COALESCE(SUM(members), 0) AS row_total,
    SUM(members * risk) AS expected,
    MAX(risk) AS highest,
    SUM(CASE WHEN risk > 0.5 THEN members ELSE 0 END) AS above_0,
    SUM(CASE WHEN risk > 0.2 THEN members ELSE 0 END) AS above_1
FROM found
