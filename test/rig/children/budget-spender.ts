/** Spends what it may of a run's submissions, until the budget is used up: a row of `spent` each, in the transaction that counts it. */

import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { EngineLimits } from '../../../src/engine/limits/shared-limits.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { openPool } from '../../../src/engine/postgres/pool.ts';
import { beginSession } from '../../../src/engine/slices/session.ts';
import { imagineRecord } from '../jobs.ts';

const [url = '', run = '', submits = ''] = process.argv.slice(2);
const pool = await openPool(parseEngineAddress(url), { clock: wallClock, connections: 2 });
const session = await beginSession({ pool, clock: wallClock }, Number(run), {
  name: 'spender',
  leaseMs: 30_000,
});
const worker = String(session.session);
const limits = new EngineLimits(
  { service: 'spenders', session },
  {
    limits: { tasks: 1, requests: 1 },
    bounds: { submits: Number(submits) },
    makesTasks: false,
    leaseMs: 30_000,
  },
  { clock: wallClock, random: Math.random },
);
const { allowance } = limits;
let more: (() => void) | undefined;
limits.onMore(() => more?.());
console.log(worker);
for (;;) {
  const record = imagineRecord({ status: 'pending', attempts: 0 });
  const refusal = allowance.refusal(record, { tokens: 0 });
  if (typeof refusal === 'object') {
    console.log(refusal.code);
    break;
  }
  if (refusal === 'wait') {
    await new Promise<void>((resolve) => {
      more = resolve;
    });
    continue;
  }
  const intent = imagineRecord({ status: 'submitting', attempts: 1 });
  allowance.note(record, intent);
  await pool.transaction(async (connection) => {
    await connection.query('SELECT promptpress.purse_spend($1, $2, 1, 0, 0)', [Number(run), worker]);
    await connection.query('INSERT INTO spent VALUES ($1)', [worker]);
  });
}
await limits.stop();
await pool.close();
