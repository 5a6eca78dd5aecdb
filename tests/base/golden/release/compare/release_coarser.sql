/* sqlaudit: release_coarser */
SELECT
    SUM(beside.n) AS compared,
    SUM(CASE WHEN order_1.is_coarser THEN 0 ELSE beside.n END) AS not_coarser,
    SUM(CASE WHEN order_1.is_finer THEN 0 ELSE beside.n END) AS not_finer
FROM patients AS beside
JOIN patients AS order_1 ON beside.g1 = order_1.own AND beside.h1 = order_1.other
