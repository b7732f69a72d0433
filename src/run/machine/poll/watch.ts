import type { Sightings, TaskWatch } from '../job.ts';

/** Number of progress levels, in steps of five points. Services that report progress advance by more. */
export const levels = 21;
const pointsPerLevel = 100 / (levels - 1);

/** Adds one poll of an unfinished task to its watch. @param progress in percent, where the service reports it */
export function watchedOn(
  watch: TaskWatch | undefined,
  ageMs: number,
  progress: number | undefined,
): TaskWatch {
  const seen = watch?.seen ?? [];
  return { ageMs, seen: progress === undefined ? seen : withSighting(seen, progress, ageMs) };
}

/** Adds a sighting: at most one per level, because a progress that falls back means nothing. */
function withSighting(seen: Sightings, percent: number, ageMs: number): Sightings {
  const level = Math.max(0, Math.min(levels - 1, Math.floor(percent / pointsPerLevel)));
  const last = seen.at(-1);
  if (last === undefined || level > last[0]) return [...seen, [level, ageMs, ageMs]];
  return level === last[0] ? [...seen.slice(0, -1), [level, last[1], ageMs]] : seen;
}
