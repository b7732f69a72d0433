import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openState } from '../../src/state/state.ts';
import { jobRecord } from '../state/records.ts';
import { type Bench, microsecondsEach } from './comparison.ts';

const count = 512;
const records = Array.from({ length: count }, (_, n) =>
  jobRecord(`key-${n}`, 'running', { taskId: `T${n}` }),
);

/** Every commit reaches the disk before it returns, so this measures the disk as much as the state. */
async function committedBy(group: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'promptpress-bench-'));
  const state = openState(folder);
  try {
    return await microsecondsEach(count, () => {
      for (let from = 0; from < count; from += group)
        state.commit({ records: records.slice(from, from + group), attempts: [] });
    });
  } finally {
    state.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const state: Bench = {
  asks: 'what one transaction per turn of the event loop saves over one per record',
  prepare: () => ({
    unit: 'µs per record',
    left: { name: '64 in a commit', measure: () => committedBy(64) },
    right: { name: '1 in a commit', measure: () => committedBy(1) },
  }),
};
