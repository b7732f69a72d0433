import { describe, expect, it } from 'vitest';
import { killAgainAndAgain } from '../rig/kills.ts';
import { byStatus } from '../rig/manifest.ts';
import { aimedKill } from '../rig/mishap.ts';
import { calmRun } from '../rig/run-place.ts';
import { everyKind, fortyCells, tenOfEveryKind, twentyTexts, twoCells } from './pipelines.ts';

const seed = Number(process.env['SEED'] ?? 20_261);
/** Of each pipeline: `npm run kills` draws as many as one likes, and of more cells. */
const kills = 4;
const fewer = 2;
/** 10 cells, 9 jobs each. */
const pipeline = fortyCells
  .replace('medium: [ink, oil]', 'medium: [ink]')
  .replace('seed: { from: 1, to: 2 }', 'seed: [1]');
const jobs = 90;
/** 10 cells, 6 rows each; 5 text calls a cell. */
const texts = twentyTexts.replace('seed: { from: 1, to: 2 }', 'seed: [1]');
/** 5 cells of every kind of image work. */
const ofEveryKind = { text: tenOfEveryKind.replace('seed: { from: 1, to: 2 }', 'seed: [1]'), cells: 5 };

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

  it('makes each job anew once, where the order of it is given again after each kill', async () => {
    const killed = await killAgainAndAgain({ pipeline, kills, seed, most: 60, aimed: 0.3, redo: true });
    const { tasks, doubtful, codes, stderr, duplicates, rows } = killed;
    expect(killed.timed + killed.aimed.length).toBe(kills);
    expect(codes.at(1), stderr).toBe(0);
    expect([byStatus(rows), duplicates]).toEqual([{ done: jobs }, []]);
    expect(tasks).toBeGreaterThanOrEqual(2 * jobs);
    expect(tasks).toBeLessThanOrEqual(2 * jobs + doubtful.length);
  }, 120_000);

  it('confirms no modal twice, and pays once for blends, descriptions, films and edits too', async () => {
    const killed = await killAgainAndAgain({
      pipeline: ofEveryKind.text,
      kills: fewer,
      seed,
      most: 60,
      aimed: 0.5,
    });
    const { tasks, modals, doubtful, codes, stderr, duplicates, secondModals, rows, files } = killed;
    console.log(
      `killed ${killed.timed} times from without, ${killed.aimed.length} times at a chosen call: ` +
        `${tasks} tasks and ${modals} modals for ${ofEveryKind.cells * everyKind.jobs} jobs, ${doubtful.length} were in doubt`,
    );
    expect(codes, stderr).toEqual([doubtful.length > 0 ? 5 : 0, 0]);
    expect(byStatus(rows)).toEqual({ done: ofEveryKind.cells * everyKind.rows });
    expect([duplicates, secondModals]).toEqual([[], []]);
    expect(tasks).toBeLessThanOrEqual(ofEveryKind.cells * everyKind.jobs + doubtful.length);
    const calm = await calmRun(ofEveryKind.text);
    expect(rows).toEqual(calm.rows);
    expect(files).toEqual(calm.files);
    expect(calm.tasks).toBe(ofEveryKind.cells * everyKind.jobs);
  }, 120_000);

  it('repeats no text call whose reply was durable, and ends like an undisturbed run', async () => {
    const killed = await killAgainAndAgain({
      pipeline: texts,
      kills,
      seed,
      most: 60,
      aimed: 0.5,
    });
    const { doubtful, codes, stderr, duplicates, askedAgain, texts: calls, rows, files } = killed;
    console.log(
      `killed ${killed.timed} times from without, ${killed.aimed.length} times at a chosen call: ` +
        `${calls.calls} calls for ${calls.different} texts, ${doubtful.length} pictures were in doubt`,
    );
    expect(codes, stderr).toEqual([doubtful.length > 0 ? 5 : 0, 0]);
    expect(byStatus(rows)).toEqual({ done: 60 });
    expect([duplicates, askedAgain]).toEqual([[], []]);
    expect(calls.durable).toBeGreaterThan(0);
    expect(calls.different).toBe(50);
    const calm = await calmRun(texts);
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
