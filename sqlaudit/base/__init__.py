"""The base of all packages: errors, requests, numbers, SQL, files. No engine, no model, no feature."""
