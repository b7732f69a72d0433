import type { Sightings, TaskWatch } from '../job.ts';

/** Progress is told apart in steps of five points: the services that say one move by more. */
export const levels = 21;
const pointsPerLevel = 100 / (levels - 1);

/** What is known of a task after one more poll that showed it unfinished. @param progress in percent, where the service says so */
export function watchedOn(
  watch: TaskWatch | undefined,
  ageMs: number,
  progress: number | undefined,
): TaskWatch {
  const seen = watch?.seen ?? [];
  return { ageMs, seen: progress === undefined ? seen : withSighting(seen, progress, ageMs) };
}

/** The sightings with one more: at most one for each level, as a progress that falls back says nothing. */
function withSighting(seen: Sightings, percent: number, ageMs: number): Sightings {
  const level = Math.max(0, Math.min(levels - 1, Math.floor(percent / pointsPerLevel)));
  const last = seen.at(-1);
  if (last === undefined || level > last[0]) return [...seen, [level, ageMs, ageMs]];
  return level === last[0] ? [...seen.slice(0, -1), [level, last[1], ageMs]] : seen;
}
