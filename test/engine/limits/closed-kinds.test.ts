import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClosedKinds, endByClosedKinds } from '../../../src/engine/limits/closed-kinds.ts';
import { runStatus } from '../../../src/engine/slices/runs.ts';
import type { LeftWork } from '../../../src/run/ports.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type TestEngine, testEngine } from '../state/opened.ts';

describe.skipIf(!hasPostgres)('the work that workers leave of a kind', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  const pan = { route: 'submit', name: 'pan', code: 'route.refused', names: [] } as const;
  const open = { ...pan, message: 'A worker was served none', isOpen: true } as const;

  /** Workers of one run, one for each of what is left. */
  async function workers(...left: readonly LeftWork['closed'][number][]) {
    const { pool } = engine;
    const run = await engine.run();
    for (const [at, kind] of left.entries()) {
      const closings = new ClosedKinds({ pool, run, invocation: 0 });
      closings.begin(at + 1);
      closings.report(() => ({ closed: [kind], cells: 0, openSteps: [] }));
      await closings.reported();
    }
    return { status: await runStatus(pool, run), end: await endByClosedKinds({ pool, run, invocation: 0 }) };
  }

  it('is summed, and the kind stays open to others where no worker has closed it', async () => {
    const { status, end } = await workers({ ...open, left: 12 }, { ...open, left: 13 });
    expect(status?.closed).toEqual([]);
    expect(end).toEqual({
      kind: 'stopped',
      code: 'route.refused',
      message: 'A worker was served none. 25 jobs of pan wait for a later run.',
    });
  });

  it('is reported with the reason for closing where any worker has closed it', async () => {
    const { status, end } = await workers({ ...open, left: 1 }, { ...pan, message: 'No pan', left: 20 });
    expect(status?.closed).toHaveLength(1);
    expect(end).toMatchObject({ message: 'No pan. 21 jobs of pan wait for a later run.' });
  });
});
