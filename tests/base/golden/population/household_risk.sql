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
risks AS MATERIALIZED (
    SELECT
        household,
        CASE
            WHEN population <= f THEN CAST(1 AS DOUBLE) / f
            WHEN p > 0.5 THEN (CAST(1 AS DOUBLE) / (f + 0) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 1) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 2) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 3) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 4) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 5) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 6) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 7) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 8) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 9) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 10) - (1 - p) / p * (CAST(1 AS DOUBLE) / (f + 11) - (1 - p) / p * (2.64731371055436537e-01 * p / (p + (1 - p) * EXP(-1.15722117358020501e-01 / (f + 12))) + 3.77759275873142120e-01 * p / (p + (1 - p) * EXP(-6.11757484515130789e-01 / (f + 12))) + 2.44082011319879055e-01 * p / (p + (1 - p) * EXP(-1.51261026977641899e+00 / (f + 12))) + 9.04492222116818206e-02 * p / (p + (1 - p) * EXP(-2.83375133774350685e+00 / (f + 12))) + 2.01023811546342177e-02 * p / (p + (1 - p) * EXP(-4.59922763941834845e+00 / (f + 12))) + 2.66397354186533345e-03 * p / (p + (1 - p) * EXP(-6.84452545311517735e+00 / (f + 12))) + 2.03231592663001310e-04 * p / (p + (1 - p) * EXP(-9.62131684245686714e+00 / (f + 12))) + 8.36505585681992591e-06 * p / (p + (1 - p) * EXP(-1.30060549933063481e+01 / (f + 12))) + 1.66849387654092118e-07 * p / (p + (1 - p) * EXP(-1.71168551874622565e+01 / (f + 12))) + 1.34239103051500409e-09 * p / (p + (1 - p) * EXP(-2.21510903793970044e+01 / (f + 12))) + 3.06160163503510228e-12 * p / (p + (1 - p) * EXP(-2.84879672509839992e+01 / (f + 12))) + 8.14807746742609352e-16 * p / (p + (1 - p) * EXP(-3.70991210444669193e+01 / (f + 12)))) / (f + 12)))))))))))))
            WHEN f = 1 THEN (p / (1 - p)) * LN(1 / p)
            WHEN f = 2 THEN (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p))
            WHEN f = 3 THEN (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p)))
            WHEN f = 4 THEN (p / (1 - p)) * (3.33333333333333315e-01 - (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p))))
            WHEN f = 5 THEN (p / (1 - p)) * (2.50000000000000000e-01 - (p / (1 - p)) * (3.33333333333333315e-01 - (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p)))))
            WHEN f = 6 THEN (p / (1 - p)) * (2.00000000000000011e-01 - (p / (1 - p)) * (2.50000000000000000e-01 - (p / (1 - p)) * (3.33333333333333315e-01 - (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p))))))
            WHEN f = 7 THEN (p / (1 - p)) * (1.66666666666666657e-01 - (p / (1 - p)) * (2.00000000000000011e-01 - (p / (1 - p)) * (2.50000000000000000e-01 - (p / (1 - p)) * (3.33333333333333315e-01 - (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p)))))))
            WHEN f = 8 THEN (p / (1 - p)) * (1.42857142857142849e-01 - (p / (1 - p)) * (1.66666666666666657e-01 - (p / (1 - p)) * (2.00000000000000011e-01 - (p / (1 - p)) * (2.50000000000000000e-01 - (p / (1 - p)) * (3.33333333333333315e-01 - (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p))))))))
            WHEN f = 9 THEN (p / (1 - p)) * (1.25000000000000000e-01 - (p / (1 - p)) * (1.42857142857142849e-01 - (p / (1 - p)) * (1.66666666666666657e-01 - (p / (1 - p)) * (2.00000000000000011e-01 - (p / (1 - p)) * (2.50000000000000000e-01 - (p / (1 - p)) * (3.33333333333333315e-01 - (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p)))))))))
            WHEN f = 10 THEN (p / (1 - p)) * (1.11111111111111105e-01 - (p / (1 - p)) * (1.25000000000000000e-01 - (p / (1 - p)) * (1.42857142857142849e-01 - (p / (1 - p)) * (1.66666666666666657e-01 - (p / (1 - p)) * (2.00000000000000011e-01 - (p / (1 - p)) * (2.50000000000000000e-01 - (p / (1 - p)) * (3.33333333333333315e-01 - (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p))))))))))
            WHEN f = 11 THEN (p / (1 - p)) * (1.00000000000000006e-01 - (p / (1 - p)) * (1.11111111111111105e-01 - (p / (1 - p)) * (1.25000000000000000e-01 - (p / (1 - p)) * (1.42857142857142849e-01 - (p / (1 - p)) * (1.66666666666666657e-01 - (p / (1 - p)) * (2.00000000000000011e-01 - (p / (1 - p)) * (2.50000000000000000e-01 - (p / (1 - p)) * (3.33333333333333315e-01 - (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p)))))))))))
            WHEN f = 12 THEN (p / (1 - p)) * (9.09090909090909116e-02 - (p / (1 - p)) * (1.00000000000000006e-01 - (p / (1 - p)) * (1.11111111111111105e-01 - (p / (1 - p)) * (1.25000000000000000e-01 - (p / (1 - p)) * (1.42857142857142849e-01 - (p / (1 - p)) * (1.66666666666666657e-01 - (p / (1 - p)) * (2.00000000000000011e-01 - (p / (1 - p)) * (2.50000000000000000e-01 - (p / (1 - p)) * (3.33333333333333315e-01 - (p / (1 - p)) * (5.00000000000000000e-01 - (p / (1 - p)) * (1.00000000000000000e+00 - (p / (1 - p)) * LN(1 / p))))))))))))
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
                WHEN risk < 0.001 THEN -risk * (1 + risk * (5e-1 + risk * (3.33333333333333315e-01 + risk * (2.5e-1 + risk / 5))))
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
            WHEN surest >= 1 THEN CAST(1 AS DOUBLE)
            WHEN kept > -0.001 THEN -kept * (1 + kept * (5e-1 + kept * (1.66666666666666657e-01 + kept * (4.16666666666666644e-02 + kept / 120))))
            ELSE 1 - EXP(kept)
        END AS risk
    FROM homes
),
levels AS (
    SELECT
        risk,
        SUM(members) AS row_count,
        SUM(1) AS home_count,
        SUM(CASE WHEN household IS NULL THEN members ELSE 0 END) AS homeless
    FROM found
    GROUP BY risk
),
running AS (
    SELECT
        risk,
        row_count,
        home_count,
        homeless,
        SUM(row_count * risk) OVER (ORDER BY risk ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS kept,
        SUM(row_count) OVER () - SUM(row_count) OVER (ORDER BY risk ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS rows_above,
        SUM(home_count) OVER () - SUM(home_count) OVER (ORDER BY risk ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS homes_above,
        SUM(row_count) OVER () AS all_rows
    FROM levels
),
bounded AS (
    SELECT
        running.*,
        (kept + risk * rows_above) / all_rows AS bound
    FROM running
)
SELECT
    COALESCE(SUM(home_count), 0) AS households,
    COALESCE(SUM(homeless), 0) AS homeless,
    COALESCE(SUM(row_count), 0) AS row_total,
    SUM(row_count * risk) AS expected,
    MAX(risk) AS highest,
    SUM(CASE WHEN risk > 0.5 THEN row_count ELSE 0 END) AS above_0,
    SUM(CASE WHEN risk > 0.2 THEN row_count ELSE 0 END) AS above_1,
    MAX(CASE WHEN bound <= 1.00000000000000002e-02 * 1.000000000001e0 THEN risk END) AS threshold,
    MAX(CASE WHEN bound <= 1.00000000000000002e-02 * 1.000000000001e0 THEN bound END) AS remaining,
    MIN(CASE WHEN bound <= 1.00000000000000002e-02 * 1.000000000001e0 THEN rows_above END) AS rows_above,
    MIN(CASE WHEN bound <= 1.00000000000000002e-02 * 1.000000000001e0 THEN homes_above END) AS homes_above
FROM bounded
