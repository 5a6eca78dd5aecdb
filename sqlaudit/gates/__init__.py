"""Policy files: privacy requirements that live beside the tables, and the run that tests them before publication."""
