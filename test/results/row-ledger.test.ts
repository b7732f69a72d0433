import { describe, expect, it } from 'vitest';
import type { ManifestRow } from '../../src/manifest/row.ts';
import type { JobErrorCode } from '../../src/pipeline/diagnostics/job-errors.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import { type Slot, slotStatuses } from '../../src/plan/slot.ts';
import { type ManifestTotals, RowLedger } from '../../src/results/row-ledger.ts';
import { imagineRecord } from '../rig/jobs.ts';
import { noSlots } from '../rig/no-counts.ts';

interface Given extends Partial<Omit<ManifestRow, 'slot'>> {
  readonly slot?: Partial<Slot>;
  readonly record?: Partial<JobRecord>;
}

const row = ({ slot, record, ...changes }: Given): ManifestRow =>
  ({
    cell: { number: 1, vars: {} },
    slot: { status: 'done', ...(record && { record: imagineRecord(record) }), ...slot },
    chosen: true,
    firstOfSlot: true,
    firstOfJob: false,
    ...changes,
  }) as unknown as ManifestRow;

function tallyOf(...rows: readonly Given[]): ManifestTotals {
  const tally = new RowLedger();
  for (const given of rows) tally.add(row(given));
  return tally.totals();
}

const artifact = { file: 'images/aa/aa-1.png' } as NonNullable<ManifestRow['artifact']>;
const said = {} as NonNullable<ManifestRow['artifact']>;
const failed = (code: string, message: string, slot: Partial<Slot> = {}): Given => ({
  slot: { status: 'failed', error: { code: code as JobErrorCode, message }, ...slot },
  record: {},
});

describe('a tally', () => {
  it('has a zero count for each status without rows, and no cost', () => {
    expect(tallyOf()).toStrictEqual({ rows: 0, slots: noSlots, otherSlots: 0, files: 0, reasons: [] });
  });

  it.each(slotStatuses)('counts the slots that are %s', (status) => {
    expect(tallyOf({ slot: { status } }, { slot: { status } }).slots).toEqual({ ...noSlots, [status]: 2 });
  });

  it('counts accepted failures, and what they block, apart', () => {
    const accepted = { accepted: true } as const;
    const counted = tallyOf(
      failed('task.moderated', 'no', accepted),
      { slot: { status: 'blocked', ...accepted } },
      failed('task.failed', 'no'),
    );
    expect(counted.slots).toEqual({ ...noSlots, accepted: 2, failed: 1 });
    expect(counted.reasons.map((reason) => [reason.code, reason.accepted])).toEqual([
      ['task.failed', undefined],
      ['task.moderated', true],
    ]);
  });

  it('counts rows and files, and each slot once', () => {
    const tally = tallyOf(
      { artifact },
      { artifact, firstOfSlot: false },
      { artifact: said },
      { artifact, chosen: false },
      { chosen: false, firstOfSlot: false },
    );
    expect(tally).toMatchObject({ rows: 5, files: 3, otherSlots: 1, slots: { ...noSlots, done: 2 } });
  });

  it('adds up the cost, the possible cost and the tokens of a job at its first row only', () => {
    const record: Partial<JobRecord> = {
      cost: 0.1,
      usage: { prompt: 1, total: 3 },
      doubtful: { count: 1, cost: 0.25 },
      assumed: { answers: 1, tokens: 40, cost: 0.5 },
    };
    const tally = tallyOf(
      { record, firstOfJob: true },
      { record },
      { record, firstOfJob: true, chosen: false, firstOfSlot: false },
      { firstOfJob: true, record: { cost: 0.1 } },
    );
    expect(tally).toMatchObject({
      cost: 0.3,
      possibleCost: 1.5,
      assumedTokens: 80,
      tokens: { prompt: 2, total: 6 },
    });
  });

  it('finds the same bytes in several jobs, not in several slots of one job', () => {
    const artifacts = [{ output: 1, file: 'images/aa/aa-1.png', bytes: 1, sha256: 'x', mime: 'image/png' }];
    const made = (key: string, more: Given = {}): Given => ({ record: { key, artifacts }, ...more });
    const shared: Given = { sharesJob: true };
    expect(tallyOf(made('a'), made('a', shared)).sameFiles).toBeUndefined();
    expect(tallyOf(made('a'), made('a', shared), made('b')).sameFiles).toMatchObject({
      jobs: 2,
      contents: 1,
    });
  });

  it('adds the most that a request in flight may use', () => {
    const reserve = { cost: 2, tokens: 30 };
    const doubtful = { count: 1, cost: 0.5, tokens: 5 };
    const sent: Given = { firstOfJob: true, record: { status: 'submitting', reserve, doubtful } };
    expect(tallyOf(sent)).toMatchObject({ possibleCost: 2.5, assumedTokens: 35, unanswered: 2 });
    // It was answered: the reserve is used no more.
    const { possibleCost, assumedTokens, unanswered } = tallyOf({
      ...sent,
      record: { ...sent.record, status: 'done' },
    });
    expect([possibleCost, assumedTokens, unanswered]).toEqual([0.5, 5, 1]);
  });

  it('knows a cost of 0, and noSlots that is known in part only', () => {
    expect(tallyOf({ record: { cost: 0 }, firstOfJob: true })).toHaveProperty('cost', 0);
    const partly = tallyOf(
      { record: { cost: 1, partlyPriced: true }, firstOfJob: true },
      { firstOfJob: true },
    );
    for (const name of ['cost', 'possibleCost', 'tokens', 'assumedTokens'])
      expect(partly).not.toHaveProperty(name);
  });

  it('removes rounding noise from sums of possible cost too', () => {
    const rows = [0.1, 0.2].map((cost) => ({ record: { doubtful: { count: 1, cost } }, firstOfJob: true }));
    expect(tallyOf(...rows).possibleCost).toBe(0.3);
  });
});

describe('the reasons of a tally', () => {
  it('are those of failed and in-doubt selected slots, by status and code', () => {
    const tally = tallyOf(
      failed('task.failed', 'a'),
      failed('task.failed', 'b', { status: 'in-doubt' }),
      failed('task.failed', 'c', { status: 'blocked' }),
      failed('task.failed', 'd', { status: 'skipped' }),
      { ...failed('task.failed', 'e'), chosen: false },
      { ...failed('task.failed', 'f'), firstOfSlot: false },
      { slot: { status: 'failed' } },
    );
    expect(tally.reasons).toStrictEqual([
      { status: 'failed', code: 'task.failed', count: 1, message: 'a' },
      { status: 'in-doubt', code: 'task.failed', count: 1, message: 'b' },
    ]);
  });

  it('are in order of frequency, then of their codes', () => {
    const reasonsOf = (codes: string): string =>
      tallyOf(...codes.split('').map((code) => failed(code, 'm')))
        .reasons.map(({ code, count }) => `${code}${count}`)
        .join(' ');
    for (const codes of ['bcacdb', 'dacbcb', 'cdbabc', 'adbbcc'])
      expect(reasonsOf(codes)).toBe('b2 c2 a1 d1');
    expect(reasonsOf('edcba')).toBe('a1 b1 c1 d1 e1');
    // By code unit, in every language: a manifest is the same on every machine.
    expect(reasonsOf('zäaBZ.')).toBe('.1 B1 Z1 a1 z1 ä1');
    expect(reasonsOf('abbcccdddd')).toBe('d4 c3 b2 a1');
    // A code may stand twice, as a failure and as a doubt.
    const twice = tallyOf(failed('a', 'm', { status: 'in-doubt' }), failed('a', 'm'), failed('a', 'm'));
    expect(twice.reasons.map(({ status, count }) => `${status} ${count}`)).toEqual([
      'failed 2',
      'in-doubt 1',
    ]);
  });

  it('give the number of slots without a job that could be retried', () => {
    const { record: _, ...jobless } = failed('template.failed', 'm');
    const [reason] = tallyOf(jobless, failed('template.failed', 'm'), jobless).reasons;
    expect(reason).toStrictEqual({
      status: 'failed',
      code: 'template.failed',
      count: 3,
      unasked: 2,
      message: 'm',
    });
  });

  it('show the most frequent message, and the number of others', () => {
    const rows = ['x', 'y', 'y', 'z'].map((message) => failed('task.failed', message));
    expect(tallyOf(...rows).reasons).toMatchObject([{ count: 4, message: 'y', otherMessages: 2 }]);
  });

  it('are at most a hundred, and further slots of these are still counted', () => {
    const codes = Array.from({ length: 101 }, (_, n) => `code.${String(n).padStart(3, '0')}`);
    const { reasons } = tallyOf(...[...codes, ...codes].map((code) => failed(code, 'm')));
    expect(reasons).toHaveLength(100);
    expect(reasons.every(({ count }) => count === 2)).toBe(true);
    expect(reasons.some(({ code }) => code === 'code.100')).toBe(false);
  });
});
