import { expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { LeftRecord, OtherRecords, RunStore } from '../../../src/run/ports.ts';
import type { Committed, LateFact, Turn } from '../../../src/state/store.ts';
import { jobRecord } from '../../state/records.ts';
import { textRecord } from '../jobs.ts';

/** One of several workers on a state with fences. */
export interface FenceWorker extends Pick<RunStore, 'get' | 'attempts'> {
  readonly others: OtherRecords;
  commit(turn: Turn): Promise<Committed>;
  /** Takes a slice, whoever holds it. @returns its epoch */
  take(slice: number): Promise<number>;
  /** What a slice that it has taken was left with. */
  left(slice: number): Promise<readonly LeftRecord[]>;
  /** Reads records, for a slice. */
  prefetch(keys: readonly string[], slice: number): Promise<void>;
  /** How records name it as the holder of a slice. */
  holder(slice: number, epoch: number): string;
  /** Says that it sends and hears nothing more for a slice. */
  end(slice: number, epoch: number): Promise<void>;
}

/** Makes workers on a state of their own, with slices from 1. */
export type FenceRig = (workers: number, slices: number) => Promise<readonly FenceWorker[]>;

/** @param from whose knowledge of the records it was decided from; absent: nobody had written any */
function turnOf(
  slice: number,
  epoch: number,
  records: readonly JobRecord[],
  { from, ...more }: Partial<Turn> & { readonly from?: FenceWorker } = {},
): Turn {
  const basis = records.flatMap(({ key }) => {
    const known = from?.others.leaseOf(key)?.basis;
    return known === undefined ? [] : [[key, known] as const];
  });
  const of = new Map(records.map(({ key }) => [key, slice]));
  const slices = { of, epochs: new Map([[slice, epoch]]), basis: new Map(basis) };
  return { records, attempts: [], slices, ...more };
}

const heardAlone = (...lateFacts: readonly LateFact[]): Turn => ({ records: [], attempts: [], lateFacts });

const nothing: Committed = { refused: new Set(), lost: new Set() };

const refusing = (...keys: readonly string[]): Committed => ({ refused: new Set(keys), lost: new Set() });

/** What every state promises that several workers write. */
export function describeFences(rig: FenceRig): void {
  /** So many workers, each of which holds the slice of its number, from 1. */
  const working = async (count: number): Promise<readonly FenceWorker[]> => {
    const workers = await rig(count, count);
    for (const [at, worker] of workers.entries()) expect(await worker.take(at + 1)).toBe(1);
    return workers;
  };

  it('writes nothing of a slice that was taken over, and all the rest', async () => {
    const [old, next] = (await working(2)) as [FenceWorker, FenceWorker];
    const sent = jobRecord('a', 'submitting', { submittedAt: 17, submittedBy: '1/1', attempts: 1 });
    expect(await old.commit(turnOf(1, 1, [sent]))).toEqual(nothing);
    expect(await next.take(1)).toBe(2);
    expect(await old.take(2)).toBe(2);
    const lateFact: LateFact = { key: 'a', submittedAt: 17, submittedBy: '1/1', taskId: '7' };
    const committed = await old.commit({
      records: [jobRecord('a', 'running', { taskId: '7' }), jobRecord('b', 'submitting')],
      attempts: [
        { key: 'a', at: 1, outcome: 'accepted', taskId: '7' },
        { key: 'b', at: 2, outcome: 'sent' },
      ],
      slices: {
        of: new Map([
          ['a', 1],
          ['b', 2],
        ]),
        epochs: new Map([
          [1, 1],
          [2, 2],
        ]),
        basis: new Map(),
      },
      lateFacts: [lateFact],
    });
    expect(committed).toEqual({ refused: new Set(), lost: new Set([1]) });
    await next.prefetch(['a', 'b'], 1);
    expect([next.get('a'), next.get('b')?.status]).toEqual([sent, 'submitting']);
    expect([next.attempts('a'), next.attempts('b')]).toEqual([[], [{ key: 'b', at: 2, outcome: 'sent' }]]);
    // What was heard all the same is a fact, and whoever takes the slice is told of it.
    expect(await next.others.read(['a', 'b'])).toEqual([lateFact]);
    expect(await next.left(1)).toEqual([{ record: sent, sender: old.holder(1, 1), lateFact }]);
  });

  it('gives an equal job to the slice that writes it first, and shows the others its record', async () => {
    const workers = await working(3);
    const commits = await Promise.all(
      workers.map((worker, at) =>
        worker.commit(
          turnOf(at + 1, 1, [jobRecord(`own-${at}`, 'submitting'), jobRecord('equal', 'submitting')]),
        ),
      ),
    );
    expect(commits.filter(({ refused }) => refused.size === 0)).toHaveLength(1);
    const winner = commits.findIndex(({ refused }) => refused.size === 0) + 1;
    for (const [at, worker] of workers.entries()) {
      expect(commits[at]).toEqual(at + 1 === winner ? nothing : refusing('equal'));
      expect(worker.others.leaseOf('equal')).toMatchObject({ slice: winner, epoch: 1 });
      expect(worker.others.leaseOf(`own-${at}`)).toMatchObject({ slice: at + 1, epoch: 1 });
    }
  });

  const rests = ['pending', 'modal', 'done', 'failed', 'in-doubt'] as const;
  const moves = ['submitting', 'running', 'saving'] as const;
  it.each([...rests, ...moves])(
    'lets another slice go on from a job that is %s only where that rests',
    async (status) => {
      const isResting = (rests as readonly string[]).includes(status);
      const [one, two] = (await working(2)) as [FenceWorker, FenceWorker];
      await one.commit(turnOf(1, 1, [jobRecord('a', status)]));
      await two.prefetch(['a', 'none'], 2);
      expect([two.get('a'), two.get('none')]).toEqual([jobRecord('a', status), undefined]);
      const again = jobRecord('a', 'submitting', { tries: 1 });
      const taken = await two.commit(turnOf(2, 1, [again], { from: two }));
      expect(taken).toEqual(isResting ? nothing : refusing('a'));
      expect(two.others.leaseOf('a')?.slice).toBe(isResting ? 2 : 1);
      // It is no longer the first one's, however late that hears of it.
      const late = await one.commit(turnOf(1, 1, [jobRecord('a', 'failed')], { from: one }));
      expect(late).toEqual(isResting ? refusing('a') : nothing);
      expect(one.get('a')?.tries).toBe(isResting ? 1 : 0);
    },
  );

  it('refuses a decision about a record that has changed since, read again meanwhile or not', async () => {
    const [one, two, three] = (await working(3)) as [FenceWorker, FenceWorker, FenceWorker];
    await one.commit(turnOf(1, 1, [jobRecord('a', 'failed')]));
    await two.prefetch(['a'], 2);
    await three.prefetch(['a'], 3);
    await two.commit(turnOf(2, 1, [jobRecord('a', 'done')], { from: two }));
    const decided = turnOf(3, 1, [jobRecord('a', 'submitting')], { from: three });
    await three.others.read(['a']);
    expect(await three.commit(decided)).toEqual(refusing('a'));
    expect(three.get('a')).toEqual(jobRecord('a', 'done'));
  });

  it('refuses a decision that was made from no record where there is one, also one that rests', async () => {
    const [one, two] = (await working(2)) as [FenceWorker, FenceWorker];
    await one.commit(turnOf(1, 1, [jobRecord('a', 'pending')]));
    expect(await two.commit(turnOf(2, 1, [jobRecord('a', 'submitting')]))).toEqual(refusing('a'));
    expect(two.get('a')).toEqual(jobRecord('a', 'pending'));
  });

  it('leaves to the next holder what is not settled, and names who may still send it', async () => {
    const [old, next] = (await working(2)) as [FenceWorker, FenceWorker];
    const all = [...rests, ...moves].map((status) => jobRecord(status, status));
    await old.commit(turnOf(1, 1, all));
    expect(await next.take(1)).toBe(2);
    const byKey = async (): Promise<ReadonlyMap<string, string | undefined>> =>
      new Map((await next.left(1)).map(({ record, sender }) => [record.key, sender]));
    const open = ['modal', 'pending', 'running', 'saving', 'submitting'];
    expect(await byKey()).toEqual(new Map(open.map((key) => [key, old.holder(1, 1)])));
    await old.end(1, 1);
    expect(await byKey()).toEqual(new Map(open.map((key) => [key, undefined])));
  });

  it('shows the sender of a doubt until that is over, and as long as it has a fact that is not in the record', async () => {
    const [old, next] = (await working(2)) as [FenceWorker, FenceWorker];
    await next.take(1);
    const sender = old.holder(1, 1);
    const doubt = (key: string): JobRecord =>
      jobRecord(key, 'in-doubt', { submittedAt: 17, submittedBy: '1/1', sender });
    await next.commit(turnOf(1, 2, [doubt('a'), doubt('b')]));
    await next.others.read(['a', 'b']);
    expect([next.get('a'), next.get('b')]).toEqual([doubt('a'), doubt('b')]);
    const fact: LateFact = { key: 'b', submittedAt: 17, submittedBy: '1/1' };
    await old.commit(heardAlone(fact));
    await old.end(1, 1);
    expect(await next.others.read(['a', 'b'])).toEqual([fact]);
    const { sender: _, ...known } = doubt('a');
    expect([next.get('a'), next.get('b')]).toEqual([known, doubt('b')]);
    expect(await next.left(1)).toMatchObject([{ record: { key: 'b' }, lateFact: fact }]);
  });

  it('shows a sender of a doubt that has none while it has a fact that is not in the record', async () => {
    const [old, next] = (await working(2)) as [FenceWorker, FenceWorker];
    const named = { key: 'a', submittedAt: 17, submittedBy: '1/1' };
    const doubt = jobRecord('a', 'in-doubt', named);
    await old.commit(turnOf(1, 1, [doubt]));
    await old.end(1, 1);
    await next.others.read(['a']);
    expect(next.get('a')).toEqual(doubt);
    await next.commit(heardAlone({ ...named, taskId: '7' }));
    expect(await next.others.read(['a'])).toEqual([{ ...named, taskId: '7' }]);
    expect(next.get('a')).toEqual({ ...doubt, sender: old.holder(1, 1) });
  });

  it('leaves a job that rests to its cells, though its last submission was told as never made too', async () => {
    const [old, next] = (await working(2)) as [FenceWorker, FenceWorker];
    const named = { submittedAt: 17, submittedBy: '1/1' };
    const all = [jobRecord('a', 'pending', named), textRecord({ key: 'b', status: 'pending', ...named })];
    await old.commit(turnOf(1, 1, all));
    await old.commit(heardAlone(...all.map(({ key }) => ({ key, ...named }))));
    await old.end(1, 1);
    expect(await next.take(1)).toBe(2);
    expect(await next.others.read(['a', 'b'])).toEqual([]);
    expect([next.get('a'), next.get('b')]).toEqual(all);
    expect(await next.left(1)).toEqual(all.map((record) => ({ record })));
  });

  it('takes a fact for one about its own submission alone', async () => {
    const [old, next] = (await working(2)) as [FenceWorker, FenceWorker];
    const named = { key: 'a', submittedAt: 17, submittedBy: '1/1' };
    await old.commit(turnOf(1, 1, [jobRecord('a', 'submitting', named)]));
    // Of the same moment, for another holding of the slice; and of another moment.
    await next.commit(heardAlone({ ...named, submittedBy: '1/2' }, { ...named, submittedAt: 18 }));
    expect(await next.others.read(['a'])).toEqual([]);
    await next.take(1);
    expect((await next.left(1))[0]).not.toHaveProperty('lateFact');
    await next.commit(heardAlone(named));
    expect(await next.others.read(['a'])).toEqual([named]);
  });

  it('knows of a task whatever is said of its submission before or later', async () => {
    const [old, next] = (await working(2)) as [FenceWorker, FenceWorker];
    const named = { key: 'a', submittedAt: 17, submittedBy: '1/1' };
    await old.commit(turnOf(1, 1, [jobRecord('a', 'submitting', named)]));
    for (const fact of [named, { ...named, taskId: '7' }, named]) await old.commit(heardAlone(fact));
    expect(await next.others.read(['a'])).toEqual([{ ...named, taskId: '7' }]);
  });
}
