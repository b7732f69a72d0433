import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openAllowance } from '../../../src/engine/limits/run-allowance.ts';
import { type LimitsDatabase, limitsDatabase } from '../../rig/engine/limits-database.ts';

const submits = 300;
const run = 1;

let db: LimitsDatabase;
beforeAll(async () => {
  db = await limitsDatabase();
  await db.query('CREATE TABLE spent (worker text)');
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const spent = async (): Promise<number> => (await db.query('SELECT FROM spent')).length;

interface Spender {
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly over: Promise<unknown>;
}

function spender(): Spender {
  const file = join(import.meta.dirname, '../../rig/children/budget-spender.ts');
  const args = ['--import', 'tsx', file, db.url, String(run), String(submits)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return { child, said: () => said, over: once(child, 'close') };
}

it('processes spend a budget exactly, even if some of them are killed', async () => {
  await openAllowance({ query: async (text, values) => ({ rows: await db.query(text, values) }) }, run, {
    submits,
  });
  const all = Array.from({ length: 3 }, () => spender());
  const [first, ...others] = all;
  if (first === undefined) throw new Error('unreachable');
  const patience = { timeout: 30_000, interval: 10 };
  await expect.poll(() => first.said(), patience).toContain('\n');
  const [name = ''] = first.said().split('\n');
  await db.hold(run, 1, name);
  // Killed with a part in hand that it has not used.
  await expect
    .poll(() => db.query('SELECT FROM spent WHERE worker = $1 LIMIT 1', [name]), patience)
    .toHaveLength(1);
  first.child.kill('SIGKILL');
  await first.over;
  // Nobody has heard of it for long, and its slice is taken over.
  await db.query(`UPDATE promptpress.sessions SET seen = seen - interval '1 hour' WHERE session = $1`, [
    name,
  ]);
  await db.query('UPDATE promptpress.slices SET holder = NULL');
  await Promise.all(others.map(({ over }) => over));
  expect(others.map(({ said }) => said().trim().split('\n').at(-1))).toEqual([
    'budget.submits',
    'budget.submits',
  ]);
  expect(await spent()).toBe(submits);
});
