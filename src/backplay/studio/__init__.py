"""The studio: record, mend and watch in the browser. Needs the extra `studio`.

- `folder`: the one folder that the pages can see
- `controls`: which keys, axes and buttons are which actions
- `pictures`: what an environment looks like, as bytes for the page; few along an episode
- `journal`: the takes: those that are kept, and the one so far, on disk
- `recording`: a person's recording: time travel, saving
- `stage`: a recording in a thread of its own, and who plays and who watches
- `gallery`: a demonstration opened: pictures along it, loops, trims, exports
- `scenes`: demonstrations of an environment and a policy that plays it, in pictures and films
- `agents`: what a run's last checkpoint does from any step, and the values it sees
- `own_thread`: work in one thread, and the last few who have one
- `trainings`: runs as data for curves and maps; `backplay train`, started, stopped and resumed
- `desk`: all that is open
- `guard`: who may ask: the token, the host, the origin, the size
- `server`: the routes, and what waits for each window
- `pages/`: plain modules and one style sheet
"""
