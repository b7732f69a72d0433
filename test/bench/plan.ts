import type { JobRecord } from '../../src/plan/job.ts';
import { planOf } from '../rig/pipeline-builder.ts';
import { type Bench, microsecondsEach } from './comparison.ts';

const cells = 20_000;

export const plan: Bench = {
  asks: 'what it costs to find out that a finished plan of 20,000 cells is finished',
  prepare: async () => {
    const plan = await planOf(`
      matrix: { n: { from: 1, to: ${cells} } }
      steps:
        grid: { imagine: "a fox in picture {{ n }}, ink drawing --ar 3:2" }`);
    const done = new Map<string, JobRecord>();
    for await (const cell of plan.matrix.cells())
      for (const slot of plan.resolve(cell, () => undefined))
        if (slot.job !== undefined)
          done.set(slot.job.key, {
            ...slot.job,
            status: 'done',
            origin: { cell: slot.cell, step: slot.step, branch: '', slot: slot.id },
            keep: true,
            attempts: 1,
            tries: 0,
            resubmits: 0,
            taskId: `T${slot.cell}`,
            result: { imageUrl: 'https://images.test/1.png', buttons: [] },
            artifacts: [{ output: 1, file: 'images/1.png', bytes: 1, sha256: 'x', mime: 'image/png' }],
          });

    const resolved = (status: string, records: ReadonlyMap<string, JobRecord>): Promise<number> =>
      microsecondsEach(cells, async () => {
        let found = 0;
        for await (const cell of plan.matrix.cells())
          for (const slot of plan.resolve(cell, (key) => records.get(key)))
            if (slot.status === status) found += 1;
        if (found !== cells) throw new Error(`${found} slots are ${status}, not ${cells}.`);
      });
    return {
      unit: 'µs per cell',
      left: { name: 'all done', measure: () => resolved('done', done) },
      right: { name: 'nothing done', measure: () => resolved('pending', new Map()) },
    };
  },
};
