"""`sqlaudit app`: a window, from a file to a safe release, in the browser of the person who started it.

A server of one person on this computer. `server.py` opens the door and ends; `door.py` decides which requests come in;
`project.py` holds the document, which is a policy, and its versions; `screens.py` has the routes and what each screen
shows; `jobs.py` starts the process in which `worker.py` runs the engine, by the functions of `tasks.py`.

Every page is a pure function of the document and of results. Results are stored by the parts of the document that they
depend on, so one that is older than what stands beside it is never found.

**To add a screen**: a `AppScreen` in `screens.py:SCREENS` (its step, its address, and a function that returns what the
template shows), a template in `templates/` that extends `page.html`, and for each of its changes a function under
`@change("/address")`, which returns the new document and a label for the button Undo. What it has to compute is a
function under `@task` in `tasks.py`, which gets the open table and plain arguments, and returns plain data. A page asks
for a result with `page.result(task, arguments)`: None = it is being computed, and the template shows `working.html`.
Undo, redo, the footer, Save project, two tabs and the back button then work as on the other screens.
"""
