import { describe, expect, it } from 'vitest';
import { killAgainAndAgain } from '../rig/kills.ts';
import { byStatus } from '../rig/manifest.ts';
import { calmRun } from '../rig/run-place.ts';
import { fortyCells } from './pipelines.ts';

const seed = Number(process.env['SEED'] ?? 20_261);
/** 10 cells: a grid and an upscale each, and the four frames of the grid. */
const pipeline = fortyCells
  .replace('medium: [ink, oil]', 'medium: [ink]')
  .replace('seed: { from: 1, to: 2 }', 'seed: [1]')
  .replace('path: U1..U4 → Vary (Strong)', 'path: U1\n    grid: split');

describe(`a run that cuts grids and is killed again and again (SEED=${seed})`, () => {
  it('has the frames of an undisturbed run in the end, and has paid for nothing twice', async () => {
    const killed = await killAgainAndAgain({ pipeline, kills: 4, seed, most: 40, aimed: 0.3 });
    const { tasks, doubtful, codes, stderr, duplicates, rows, files } = killed;
    expect(codes, stderr).toEqual([doubtful.length > 0 ? 5 : 0, 0]);
    expect(duplicates).toEqual([]);
    expect(tasks).toBeLessThanOrEqual(20 + doubtful.length);
    const calm = await calmRun(pipeline);
    expect(byStatus(calm.rows)).toEqual({ done: 60 });
    expect(rows).toEqual(calm.rows);
    expect(files).toEqual(calm.files);
  }, 120_000);
});
