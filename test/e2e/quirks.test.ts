import { beforeAll, describe, expect, it } from 'vitest';
import type { ManifestRow } from '../rig/manifest.ts';
import { useModalLag } from '../rig/modal-lag.ts';
import { allQuirks, mixedFaults, quirks } from './quirk-list.ts';
import { brokenBy, quirkRun, rowsOfCell } from './quirk-run.ts';

// The gateways of these tests lag for milliseconds, not for seconds.
useModalLag(600);

/** Those that say least about the others; `quirks.ts` tries each, and many cells. */
const chosen = [
  'the same task shows MODAL until it is done',
  'an old state of a task, empty at first',
  'errors as submit responses',
  'no lists of tasks, and lists asked for',
  'ids as bare numbers',
  'other names',
  'links in lists of texts alone',
];

describe('a pipeline of every kind of step in the sandbox', () => {
  let calm: readonly ManifestRow[];
  beforeAll(async () => {
    calm = (await quirkRun({}, 1)).rows;
  });

  it.each(chosen)('writes the same manifest: %s', async (name) => {
    const quirk = quirks[name] ?? {};
    const run = await quirkRun(quirk, 1);
    expect([run.first.code, run.statuses], run.first.err).toEqual([0, { done: rowsOfCell }]);
    expect(brokenBy(quirk, 1, run, calm)).toEqual([]);
  });

  it.each([
    ['no remix', 1],
    ['remix dropped on the way', 1],
    ['ordinary buttons only', 1],
  ])('writes the same manifest but for what is refused: %s', async (name, refused) => {
    const quirk = quirks[name] ?? {};
    const run = await quirkRun(quirk, 1);
    const statuses = { done: rowsOfCell - refused, failed: refused };
    expect([run.first.code, run.statuses], run.first.err).toEqual([1, statuses]);
    expect([run.retries, brokenBy(quirk, 1, run, calm)]).toEqual([0, []]);
  });

  it('accounts for every job and pays none twice with all quirks on and a tenth of all requests struck', async () => {
    const cells = 4;
    const { rows } = await quirkRun({}, cells);
    const run = await quirkRun(allQuirks, cells, mixedFaults);
    expect(brokenBy(allQuirks, cells, run, rows)).toEqual([]);
    expect(run.modals.answered).toBeGreaterThan(0);
  });
});
