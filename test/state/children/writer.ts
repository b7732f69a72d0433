/** Commits turns of three records without end; says the number of each turn once it is durable. */
import { writeSync } from 'node:fs';
import { openState } from '../../../src/state/state.ts';
import { jobRecord } from '../records.ts';

const [directory = ''] = process.argv.slice(2);
const state = openState(directory);
for (let turn = 1; ; turn += 1) {
  const number = String(turn).padStart(8, '0');
  state.commit({
    records: ['a', 'b', 'c'].map((name) =>
      jobRecord(`${number}-${name}`, 'running', { attempts: 1, cost: 1 }),
    ),
    attempts: [{ key: `${number}-a`, at: turn, outcome: 'accepted' }],
  });
  writeSync(1, `${turn}\n`);
}
