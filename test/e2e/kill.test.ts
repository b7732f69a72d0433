import { describe, expect, it } from 'vitest';
import { killAgainAndAgain, undisturbed } from '../rig/kills.ts';
import { byStatus, comparable } from '../rig/manifest.ts';
import { fortyCells } from './pipelines.ts';

const seed = Number(process.env['SEED'] ?? 20_261);
const kills = 10;

describe(`a run that is killed ${kills} times (SEED=${seed})`, () => {
  it('pays for each job once, but for those it reports in doubt, and ends with the manifest of an undisturbed run', async () => {
    const { tasks, doubtful, codes, stderr, duplicates, rows, leftovers } = await killAgainAndAgain({
      pipeline: fortyCells,
      kills,
      seed,
      most: 150,
    });
    console.log(`killed ${kills} times: ${tasks} tasks made for 360 jobs, ${doubtful.length} were in doubt`);
    expect(codes, stderr).toEqual([doubtful.length > 0 ? 5 : 0, 0]);
    expect(byStatus(rows)).toEqual({ done: 360 });
    expect(duplicates).toEqual([]);
    expect(tasks).toBeLessThanOrEqual(360 + doubtful.length);
    expect(leftovers).toEqual([]);
    const calm = await undisturbed(fortyCells);
    expect(comparable(rows)).toEqual(calm.rows);
    expect(calm.tasks).toBe(360);
  }, 120_000);
});
