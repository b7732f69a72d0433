import { describe, expect, it } from 'vitest';
import { resolveInDoubt } from '../../src/app/run/doubt/resolution.ts';
import { manifestRows } from '../../src/manifest/rows.ts';
import { estimatePlan } from '../../src/plan/estimate/estimate.ts';
import { parentTaskOf } from '../../src/plan/resolve/lineage.ts';
import { failure } from '../rig/failure.ts';
import type { GatewayScript } from '../rig/gateway/scripted-gateway.ts';
import { textReply } from '../rig/text-reply.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, type World, world } from '../rig/world.ts';
import { namesOldTask, recordAt, redo, slotsOf } from './lineage-rig.ts';

/** Everything that can come from a grid: clicks of clicks, a judge, what it names, captions, a gather, a conversation. */
const family = `name: t
prices: { imagine: 1, click: 2, generate: 3 }
steps:
  grid: { imagine: a fox, path: U1..U2 → Vary (Strong) }
  pick:
    from: grid
    generate: { model: m, prompt: Which?, images: [parent], responseSchema: { type: object, properties: { best: { type: integer } } } }
  best: { from: grid, click: 'U{{ steps.pick.json.best }}' }
  caption: { from: best, generate: { model: m, prompt: Caption it., images: [parent] } }
  more: { from: best, generate: { model: m, prompt: Go on., continue: caption } }
  compare: { gather: grid/*, generate: { model: m, prompt: Compare them. } }
  title: { generate: { model: m, prompt: 'A title for {{ steps.caption.text }}' } }
  other: { imagine: an owl, path: U4 }
`;

const judged: GatewayScript = {
  onAsk: ({ record }) => textReply({ text: record.origin.step === 'pick' ? '{"best":3}' : 'The same.' }),
};

/** By slot, what it came to and the task that it names as its parent's, by the manifest. */
async function rowsOf({ plan, store }: World): Promise<ReadonlyMap<string, readonly (string | undefined)[]>> {
  const rows = new Map<string, readonly (string | undefined)[]>();
  for await (const { slot, parentTaskId } of manifestRows(plan, {}, store.reader))
    rows.set([slot.step, ...slot.branch].join('/'), [
      slot.status,
      slot.record?.taskId ?? String(slot.record?.submittedAt),
      parentTaskId,
    ]);
  return rows;
}

/** Slots whose row differs. */
const changed = (
  before: ReadonlyMap<string, readonly (string | undefined)[]>,
  after: ReadonlyMap<string, readonly (string | undefined)[]>,
): readonly string[] =>
  [...after].filter(([name, row]) => row.join() !== before.get(name)?.join()).map(([name]) => name);

const fromGrid = [
  'grid',
  'grid/U1',
  'grid/U1/Vary (Strong)',
  'grid/U2',
  'grid/U2/Vary (Strong)',
  'pick',
  'best/U{{ steps.pick.json.best }}',
  'caption/U{{ steps.pick.json.best }}',
  'more/U{{ steps.pick.json.best }}',
  'compare',
];

describe('--redo of a job with children', () => {
  it('redoes all jobs below it, once, and each names the task that it was made from', async () => {
    const here = await world(family, judged);
    here.run();
    const before = await rowsOf(here);
    const { submits, end, redosFailed } = here.run(redo(here, 'grid'));
    const after = await rowsOf(here);
    const redone = [...changed(before, after)];
    expect(redone).toEqual(expect.arrayContaining([...fromGrid]));
    expect(redone.filter((name) => name.startsWith('other'))).toEqual([]);
    expect([end?.kind, redosFailed, submits]).toEqual(['complete', 0, redone.length]);
    expect(namesOldTask(here)).toEqual([]);
    expect(here.run().submits).toBe(0);
    expect(here.run(redo(here, 'grid')).submits).toBe(redone.length);
  });

  it('waits for all its parents, where they are named too', async () => {
    const here = await world(family, judged);
    here.run();
    const keys = slotsOf(here).flatMap(({ record }) => record?.key ?? []);
    const { submits } = here.run({ redo: { keys, again: true } });
    expect(submits).toBe(new Set(keys).size);
    expect(namesOldTask(here)).toEqual([]);
  });

  it('redoes the jobs that named its reply, even if the reply is the same', async () => {
    const here = await world(family, judged);
    here.run();
    const { key } = recordAt(here, 'caption/U{{ steps.pick.json.best }}');
    const before = await rowsOf(here);
    here.run({ redo: { keys: [key], again: true } });
    expect(changed(before, await rowsOf(here)).map((name) => name.split('/')[0])).toEqual([
      'caption',
      'more',
      'title',
    ]);
  });

  it('is shown by the plan, with its cost', async () => {
    const here = await world(family, judged);
    here.run();
    const keys = new Set([recordAt(here, 'grid').key]);
    const { total, steps } = await estimatePlan(here.plan, {}, here.store.reader, { redo: keys });
    const { submits } = here.run(redo(here, 'grid'));
    expect([total.submits, total.why]).toEqual([submits, { new: 0, changed: 0, retry: 0, anew: submits }]);
    // A grid, five clicks, five text calls.
    expect(total.cost).toBe(1 + 5 * 2 + 5 * 3);
    expect(steps.find(({ step }) => step === 'other')).toMatchObject({ submits: 0, done: 2 });
    expect((await estimatePlan(here.plan, {}, here.store.reader)).total.submits).toBe(0);
  });

  it('leaves all jobs below it unchanged where it fails', async () => {
    const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = { ...judged };
    const here = await world(family, script);
    here.run();
    const before = await rowsOf(here);
    script.fails = () => '[Banned prompt detected] no';
    const { submits, redosFailed } = here.run(redo(here, 'grid'));
    expect([submits, redosFailed, changed(before, await rowsOf(here))]).toEqual([1, 1, []]);
    expect(here.run().submits).toBe(0);
  });

  it('leaves a child that cannot be redone unchanged, naming its own task, and retries it only if the user asks', async () => {
    const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = { ...judged };
    const here = await world(grid(1, 'U1 → Vary (Strong)'), script);
    here.run();
    const before = await rowsOf(here);
    script.fails = ({ pressed }) => (pressed === '/U1' ? '[Banned prompt detected] no' : undefined);
    const { submits, redosFailed } = here.run(redo(here, 'grid'));
    expect([submits, redosFailed]).toEqual([2, 1]);
    expect(changed(before, await rowsOf(here))).toEqual(['grid']);
    expect(here.run().submits).toBe(0);
    delete script.fails;
    expect([here.run().submits, here.run(redo(here, 'grid/U1')).submits]).toEqual([0, 2]);
    expect(recordAt(here, 'grid/U1').parentTaskId).toBe(recordAt(here, 'grid').taskId);
    expect(here.run().submits).toBe(0);
  });

  it('is continued by any later run, whenever the process dies, and pays for nothing twice', async () => {
    const pressed: number[] = [];
    for (let turns = 1; ; turns++) {
      expect(turns).toBeLessThan(100);
      const here = await world(grid(1, 'U1 → Vary (Strong)'));
      here.run();
      // Tasks are seldom looked at, so that there are few moments to die at.
      const settings = virtualSettings({ poll: { minMs: 40_000, maxMs: 60_000 } });
      const died = here.run({ settings, ...redo(here, 'grid'), dieAfterTurns: turns });
      here.run({ settings: virtualSettings({ inDoubt: 'retry' }) });
      here.run();
      expect(here.statuses()).toEqual({ done: 3 });
      expect(namesOldTask(here)).toEqual([]);
      expect(recordAt(here, 'grid').redone?.count).toBe(1);
      pressed.push(here.service.submits.length);
      if (died.end !== undefined) break;
    }
    // What died with its intent never left.
    expect(new Set(pressed)).toEqual(new Set([3 + 3]));
  });

  it.each<[string, Parameters<World['run']>[0]]>([
    ['--only of its step', { steps: new Set(['grid']) }],
    ['--max-submits', { settings: virtualSettings({ maxSubmits: 1 }) }],
    ['a budget', { settings: virtualSettings({ budget: { submits: 7 } }) }],
  ])('under %s leaves the rest to a later run, which the plan shows', async (_what, options = {}) => {
    const two = `name: t
steps:
  grid: { imagine: a fox }
  one: { from: grid, click: U1 }
  two: { from: grid, click: U2 }
  three: { from: one, click: Vary (Strong) }
  four: { from: two, click: Vary (Strong) }
  five: { from: grid, click: U3 }
`;
    const here = await world(two);
    here.run();
    const before = await rowsOf(here);
    expect(here.run({ ...options, ...redo(here, 'grid') }).submits).toBe(1);
    expect(changed(before, await rowsOf(here))).toEqual(['grid']);
    expect((await estimatePlan(here.plan, {}, here.store.reader)).total).toMatchObject({
      submits: 5,
      done: 1,
    });
    expect([here.run().submits, here.run().submits]).toEqual([5, 0]);
    expect(changed(before, await rowsOf(here))).toHaveLength(6);
  });

  it('keeps a child in doubt, and redoes it once that is settled', async () => {
    const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = {
      onSubmit: ({ pressed }) =>
        pressed === '/U1' ? { error: failure('connection.lost', 'lost') } : undefined,
    };
    const here = await world(grid(1, 'U1,U2'), script);
    here.run();
    delete script.onSubmit;
    expect(here.run(redo(here, 'grid')).submits).toBe(2);
    expect(here.statuses()).toEqual({ done: 2, 'in-doubt': 1 });
    expect(here.run().submits).toBe(0);
    here.run({ settings: virtualSettings({ inDoubt: 'retry' }) });
    expect(recordAt(here, 'grid/U1').parentTaskId).toBe(recordAt(here, 'grid').taskId);
    expect(here.run().submits).toBe(0);
  });

  it('pays nothing for a child that the user gave up, as the plan shows', async () => {
    const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = {
      onSubmit: ({ pressed }) =>
        pressed === '/U1' ? { error: failure('connection.lost', 'lost') } : undefined,
    };
    const here = await world(grid(1, 'U1,U2'), script);
    here.run();
    delete script.onSubmit;
    const { records, attempts } = resolveInDoubt(recordAt(here, 'grid/U1'), { kind: 'drop' }, undefined, 9);
    here.store.commit({ records, attempts });
    const { total } = await estimatePlan(here.plan, {}, here.store.reader, {
      redo: new Set([recordAt(here, 'grid').key]),
    });
    expect([total.submits, total.failed]).toEqual([2, 1]);
    expect([here.run(redo(here, 'grid')).submits, here.run().submits]).toEqual([2, 0]);
    expect(recordAt(here, 'grid/U1').error?.code).toBe('job.dropped');
    expect(here.statuses()).toEqual({ done: 2, failed: 1 });
    expect((await estimatePlan(here.plan, {}, here.store.reader)).total.submits).toBe(0);
  });

  it('leaves its children unchanged where the service names the former task', async () => {
    const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = {};
    const here = await world(grid(1, 'U1'), script);
    here.run();
    const { taskId = '' } = recordAt(here, 'grid');
    script.onSubmit = () => ({ kind: 'accepted', code: 1, taskId });
    expect(here.run(redo(here, 'grid')).submits).toBe(1);
    expect(recordAt(here, 'grid').redone).toBeUndefined();
  });

  it('is made once, with its children, where several cells share it', async () => {
    const here = await world(`name: t
matrix: { unused: [x, y, z] }
steps: { grid: { imagine: one picture, path: U1 }, alone: { from: grid, click: 'U{{ 2 }}' } }
`);
    here.run();
    expect(here.run(redo(here, 'grid', 'grid/U1')).submits).toBe(3);
  });

  it('retries the failed children of the former result', async () => {
    const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = {
      onSubmit: ({ pressed }) =>
        pressed === '/U1' ? { error: failure('service.rejected', 'permanent', { status: 400 }) } : undefined,
    };
    const here = await world(grid(1, 'U1'), script);
    here.run();
    delete script.onSubmit;
    expect([here.run().submits, here.run(redo(here, 'grid')).submits]).toEqual([0, 2]);
    expect(here.statuses()).toEqual({ done: 2 });
  });
});

describe('a state of a release that did not save the parents of jobs', () => {
  it('names the task of a parent that was never redone, and redoes its children with it', async () => {
    const here = await world(grid(1, 'U1'));
    here.run();
    const { parentTaskId, from: _, ...old } = recordAt(here, 'grid/U1');
    here.store.commit({ records: [old], attempts: [] });
    expect([...(await rowsOf(here)).values()].at(1)?.at(2)).toBe(parentTaskId);
    const own = recordAt(here, 'grid').taskId;
    here.run({ ...redo(here, 'grid'), steps: new Set(['other']) });
    here.run({ ...redo(here, 'grid'), settings: virtualSettings({ maxSubmits: 1 }) });
    expect(recordAt(here, 'grid').taskId).not.toBe(own);
    expect(parentTaskOf(recordAt(here, 'grid/U1'), (key) => here.store.get(key))).toBe(own);
    expect(here.run().submits).toBe(1);
    expect(recordAt(here, 'grid/U1').parentTaskId).toBe(recordAt(here, 'grid').taskId);
  });

  it('names no task for a child whose parent was redone after it', async () => {
    const here = await world(grid(1, 'U1'));
    here.run();
    const { parentTaskId: _, from: _from, ...old } = recordAt(here, 'grid/U1');
    const parent = { ...recordAt(here, 'grid'), taskId: 'later', submittedAt: (old.submittedAt ?? 0) + 1 };
    here.store.commit({ records: [old, parent], attempts: [] });
    expect(parentTaskOf(old, (key) => here.store.get(key))).toBeUndefined();
    expect(here.run().submits).toBe(0);
  });
});

describe('--redo where equal requests are one job, and a template names its descendant', () => {
  const corrected = `name: t
steps:
  first: { generate: { model: m, prompt: 'Correct: cat' } }
  second: { generate: { model: m, prompt: 'Correct: {{ steps.first.text }}' } }
`;
  const thereAndBack = (words: string): string => `name: t
matrix: { word: [${words}] }
steps:
  there: { generate: { model: m, prompt: 'To French: {{ word }}' } }
  back: { generate: { model: m, prompt: 'To English: {{ steps.there.text }}' } }
  again: { generate: { model: m, prompt: 'To French: {{ steps.back.text }}' } }
`;
  const translated: GatewayScript = {
    onAsk: ({ record }) =>
      textReply({ text: JSON.stringify(record.request).includes('To French') ? 'chat' : 'cat' }),
  };

  it.each([
    ['a text that was right at once', corrected, 'first', 1, 1],
    ['the same by its second name', corrected, 'second', 1, 1],
    ['a word translated there and back', thereAndBack('cat'), 'there', 2, 2],
    ['the way back of it', thereAndBack('cat'), 'back', 2, 1],
    ['the same word, once more', thereAndBack('cat'), 'again', 2, 2],
  ])('redoes %s once', async (_what, text, name, jobs, submissions) => {
    const here = await world(text, translated);
    expect(here.run().submits).toBe(jobs);
    const settings = virtualSettings({ maxSubmits: 20 });
    const { end, submits } = here.run({ ...redo(here, name), settings });
    expect([end?.kind, submits]).toEqual(['complete', submissions]);
    expect(here.run().submits).toBe(0);
  });

  it('ends where each of two jobs was made from the other in some cell', async () => {
    const here = await world(thereAndBack('cat, kitty'), translated);
    expect(here.run().submits).toBe(3);
    // `there` of the first cell comes from `back` of the second from now on, and that from it.
    expect(here.run({ cells: here.cells.slice(1), ...redo(here, 'again') }).submits).toBe(1);
    expect([here.run().submits, here.run().submits]).toEqual([0, 0]);
  });
});
