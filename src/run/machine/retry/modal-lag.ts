/**
 * How long, in ms, a task may go on showing MODAL although its answer arrived. A gateway shows what it knows of a task, and asks
 * for that only every 15 s (gateway 3.5, 9.3): two such rounds, one of which may fail, and a margin. It is no setting:
 * shorter, it would call more in doubt; longer, it would only keep the user waiting. A gateway that shows MODAL until the work is
 * done (gateway 4.6) is not waited out: every later run looks again.
 */
export const modalLag = { ms: 45_000, pollEveryMs: 5000 };
