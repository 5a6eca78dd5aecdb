/* sqlaudit: release_unread */
SELECT code, t
FROM patients AS readings
WHERE reading = 'other'
ORDER BY code
LIMIT 200001
