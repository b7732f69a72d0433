import { beforeAll, describe, expect, it } from 'vitest';
import type { ManifestRow } from '../rig/manifest.ts';
import { useModalLag } from '../rig/modal-lag.ts';
import { allQuirks, mixedFaults, type Quirk, quirks } from './quirk-list.ts';
import { brokenBy, quirkRun, rowsOfCell } from './quirk-run.ts';

// The gateways of these tests lag for milliseconds, not for seconds.
useModalLag(600);

/** Those that say least about the others, together where they do not meet; `quirks.ts` tries each, and many cells. */
const chosen = [
  ['the same task shows MODAL until it is done', 'links in lists of texts alone'],
  ['an old state of a task, empty at first', 'ids as bare numbers'],
  ['errors as submit responses', 'no lists of tasks, and lists asked for', 'other names'],
];

/** Several at once. */
function together(names: readonly string[]): Quirk {
  const each = names.map((name) => quirks[name] ?? {});
  const settings = {
    ...Object.assign({}, ...each.map((quirk) => quirk.settings)),
    quirks: new Set(each.flatMap((quirk) => [...(quirk.settings?.quirks ?? [])])),
  };
  return Object.assign({}, ...each, {
    settings,
    refuses: Object.assign({}, ...each.map((quirk) => quirk.refuses)),
  });
}

describe('a pipeline of every kind of step in the sandbox', () => {
  let calm: readonly ManifestRow[];
  beforeAll(async () => {
    calm = (await quirkRun({}, 1)).rows;
  });

  it.each(chosen.map((names) => [names.join('; '), names] as const))(
    'writes the same manifest: %s',
    async (_, names) => {
      const quirk = together(names);
      const run = await quirkRun(quirk, 1);
      expect([run.first.code, run.statuses], run.first.err).toEqual([0, { done: rowsOfCell }]);
      expect(brokenBy(quirk, 1, run, calm)).toEqual([]);
    },
  );

  it.each([
    [['no remix', 'ordinary buttons only'], 2],
    [['remix dropped on the way'], 1],
  ])('writes the same manifest but for what is refused: %s', async (names, refused) => {
    const quirk = together(names);
    const run = await quirkRun(quirk, 1);
    const statuses = { done: rowsOfCell - refused, failed: refused };
    expect([run.first.code, run.statuses], run.first.err).toEqual([1, statuses]);
    expect([run.retries, brokenBy(quirk, 1, run, calm)]).toEqual([0, []]);
  });

  it('accounts for every job and pays none twice with all quirks on and a tenth of all requests struck', async () => {
    const cells = 2;
    const { rows } = await quirkRun({}, cells);
    const run = await quirkRun(allQuirks, cells, mixedFaults);
    expect(brokenBy(allQuirks, cells, run, rows)).toEqual([]);
    expect(run.modals.answered).toBeGreaterThan(0);
  });
});
