import { describe, expect, it } from 'vitest';
import { killAgainAndAgain } from '../rig/kills.ts';
import { byStatus } from '../rig/manifest.ts';
import { aimedKill } from '../rig/mishap.ts';
import { calmRun } from '../rig/run-place.ts';
import { everyKind, fortyCells, tenOfEveryKind, twentyTexts, twoCells } from './pipelines.ts';

const seed = Number(process.env['SEED'] ?? 20_261);
const kills = 6;
/** Of the other pipelines: `npm run kills` draws as many as one likes. */
const fewer = 2;
/** 20 cells, 9 jobs each. */
const pipeline = fortyCells.replace('medium: [ink, oil]', 'medium: [ink]');
const jobs = 180;

describe(`a run that is killed again and again (SEED=${seed})`, () => {
  it('pays for each job once, but for those it reports in doubt, and ends with what an undisturbed run ends with', async () => {
    const killed = await killAgainAndAgain({ pipeline, kills, seed, most: 60, aimed: 0.3 });
    const { tasks, doubtful, codes, stderr, duplicates, rows, files } = killed;
    console.log(
      `killed ${killed.timed} times from without, ${killed.aimed.length} times at a chosen call: ` +
        `${tasks} tasks made for ${jobs} jobs, ${doubtful.length} were in doubt`,
    );
    expect(killed.timed + killed.aimed.length).toBe(kills);
    expect(codes, stderr).toEqual([doubtful.length > 0 ? 5 : 0, 0]);
    expect(byStatus(rows)).toEqual({ done: jobs });
    expect(duplicates).toEqual([]);
    expect(tasks).toBeLessThanOrEqual(jobs + doubtful.length);
    const calm = await calmRun(pipeline);
    expect(rows).toEqual(calm.rows);
    expect(files).toEqual(calm.files);
    expect(calm.tasks).toBe(jobs);
  }, 120_000);

  it('confirms no modal twice, and pays once for blends, descriptions, films and edits too', async () => {
    const killed = await killAgainAndAgain({
      pipeline: tenOfEveryKind,
      kills: fewer,
      seed,
      most: 60,
      aimed: 0.5,
    });
    const { tasks, modals, doubtful, codes, stderr, duplicates, secondModals, rows, files } = killed;
    console.log(
      `killed ${killed.timed} times from without, ${killed.aimed.length} times at a chosen call: ` +
        `${tasks} tasks and ${modals} modals for ${10 * everyKind.jobs} jobs, ${doubtful.length} were in doubt`,
    );
    expect(codes, stderr).toEqual([doubtful.length > 0 ? 5 : 0, 0]);
    expect(byStatus(rows)).toEqual({ done: 10 * everyKind.rows });
    expect([duplicates, secondModals]).toEqual([[], []]);
    expect(tasks).toBeLessThanOrEqual(10 * everyKind.jobs + doubtful.length);
    const calm = await calmRun(tenOfEveryKind);
    expect(rows).toEqual(calm.rows);
    expect(files).toEqual(calm.files);
    expect(calm.tasks).toBe(10 * everyKind.jobs);
  }, 120_000);

  it('repeats no text call whose reply was durable, and ends like an undisturbed run', async () => {
    const killed = await killAgainAndAgain({
      pipeline: twentyTexts,
      kills,
      seed,
      most: 60,
      aimed: 0.5,
    });
    const { doubtful, codes, stderr, duplicates, askedAgain, texts, rows, files } = killed;
    console.log(
      `killed ${killed.timed} times from without, ${killed.aimed.length} times at a chosen call: ` +
        `${texts.calls} calls for ${texts.different} texts, ${doubtful.length} pictures were in doubt`,
    );
    expect(codes, stderr).toEqual([doubtful.length > 0 ? 5 : 0, 0]);
    expect(byStatus(rows)).toEqual({ done: 120 });
    expect([duplicates, askedAgain]).toEqual([[], []]);
    expect(texts.durable).toBeGreaterThan(5);
    expect(texts.different).toBe(100);
    const calm = await calmRun(twentyTexts);
    expect(rows).toEqual(calm.rows);
    expect(files).toEqual(calm.files);
  }, 120_000);

  it('is aimed at what a run with nothing to do writes only where its manifest is gone', async () => {
    // The first start comes to its end before so many requests: from there on all is done.
    const killed = await killAgainAndAgain({ pipeline: twoCells, kills: 1, seed: 2, most: 1_000_000 });
    const aim = [aimedKill('manifest write', 2, 'after')];
    expect([killed.missed, killed.aimed, killed.timed]).toEqual([aim, aim, 0]);
    expect([killed.codes, killed.duplicates, byStatus(killed.rows)]).toEqual([[0, 0], [], { done: 6 }]);
  }, 60_000);
});
