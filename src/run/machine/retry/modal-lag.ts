/**
 * How long a task may still show MODAL although its confirm arrived, ms. A gateway shows a copy of a task and refreshes it only every 15 s
 * (gateway 3.5, 9.3): two such refreshes, one of which may fail, and a margin. It is not a setting: a shorter time would put more jobs in
 * doubt, a longer one would only keep the user waiting. A gateway that shows MODAL until the work is done (gateway 4.6) is not waited for:
 * every later run polls again.
 */
export const modalLag = { ms: 45_000, pollEveryMs: 5000 };
