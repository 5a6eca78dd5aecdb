"""What everything stands on: errors, requests, numbers, SQL, files. No engine, no model, no feature."""
