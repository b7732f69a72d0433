import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cell } from '../../../src/plan/cell.ts';
import { inputsOf, type JobSpec, needsOf } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { button, SimulatedState } from '../simulated-state.ts';
import { cut, Dice, files, type Parts, randomPipeline, reply } from './random-pipeline.ts';

/** An expectation of its own for each slot at each step would take longer than to resolve them all. */
function claim(holds: boolean, ...seen: readonly unknown[]): void {
  if (!holds) expect.fail(JSON.stringify(seen));
}

const settled = new Set(['done', 'failed', 'skipped', 'blocked', 'in-doubt']);

const offer = ['U1', 'U2', 'U3', 'V1', 'V2', ''];

function settle(state: SimulatedState, slot: Slot, dice: Dice, mayBeInDoubt: boolean): void {
  const outcome = dice.below(10);
  const error = { code: outcome === 0 ? 'button.missing' : 'task.failed', message: 'no' } as const;
  if (outcome === 9 && mayBeInDoubt && slot.kind !== 'generate') state.put(slot, 'in-doubt', { error });
  else if (outcome < 2) state.put(slot, 'failed', { error });
  else if (slot.kind === 'generate') reply(state, slot, dice);
  else if (slot.kind === 'describe') state.described(slot, dice.one([['a hat', 'a fox'], []]));
  else if (slot.kind === 'video') state.filmed(slot, dice.one([['1', '2'], ['1'], []]));
  else {
    const buttons = offer.filter(() => dice.below(3) > 0).map((label) => button(label));
    state.done(slot, buttons, { pressed: button(dice.one(['U1', 'U2', 'X9'])), ...cut(slot, dice) });
  }
}

/** What a job continues or gathers is less deep, and done before the job may start. */
function checkInputs(slots: readonly Slot[], state: SimulatedState): void {
  const depths = new Map<string, number>();
  for (const { job, depth } of slots)
    if (job !== undefined) depths.set(job.key, Math.min(depth, depths.get(job.key) ?? depth));
  for (const { job, depth, ready } of slots) {
    if (job === undefined) continue;
    claim(job.inputs?.length !== 0, job);
    for (const key of needsOf(job)) {
      // Named before it is found, a wildcard's branch is no slot yet.
      claim((depths.get(key) ?? 0) < depth, key, depth);
      if (ready) claim(state.records.get(key)?.status === 'done', key);
    }
  }
}

/** All that a job needs is done, and has made the images that are shown. */
function hasAll(job: JobSpec, state: SimulatedState): boolean {
  const { request } = job;
  const shown = 'images' in request ? (request.images ?? []) : [];
  return (
    needsOf(job).every((key) => state.records.get(key)?.status === 'done') &&
    shown.every(
      (image) =>
        !('job' in image) ||
        state.records.get(image.job)?.artifacts.some(({ mime }) => mime.startsWith('image/')) === true,
    )
  );
}

/** What a step gathers, told from the statuses alone. */
function checkGathered(plan: Plan, slot: Slot, slots: readonly Slot[], state: SimulatedState): void {
  const templates = [...(plan.slotGraph.templates[slot.place ?? -1]?.gathers?.templates ?? [])];
  // A branch that is named before it is found has no slot to compare with.
  if (templates.length === 0 || templates.some(({ copyOf, output, pick }) => copyOf ?? output ?? pick))
    return;
  // Before its own list is known, nothing is settled.
  if (slot.status === 'pending' && slot.branch.includes('[n]')) return;
  const indexes = new Set(templates.map(({ index }) => index));
  const all = slots.filter(({ place }) => indexes.has(place ?? -1));
  const chosen = all.filter(({ status }) => status !== 'skipped');
  const stopped = all.filter(({ status }) => status === 'failed' || status === 'blocked');
  const done = all.filter(({ status, unsaved }) => status === 'done' || unsaved);
  if (slot.job !== undefined) expect(inputsOf(slot.job)).toEqual(chosen.map(({ job }) => job?.key));
  if (chosen.length === 0) expect(slot.status).toBe('skipped');
  else if (stopped.length > 0) expect(['skipped', 'failed', 'blocked']).toContain(slot.status);
  else if (done.length < chosen.length) expect(slot.ready).toBe(false);
  else if (slot.job !== undefined && hasAll(slot.job, state))
    expect(slot.ready || slot.record !== undefined).toBe(true);
}

/** Runs one cell, one job at a time in any order, and checks each step of the way. */
function runCell(plan: Plan, cell: Cell, seed: number, mayBeInDoubt: boolean): readonly Slot[] {
  const dice = new Dice(seed);
  const state = new SimulatedState();
  const before = new Map<string, string>();
  const keys = new Map<string, string>();
  const copies = plan.slotGraph.templates.reduce((sum, { names }) => sum + names.size, 0);
  // What a wildcard finds has no bound.
  const hasBound = !plan.slotGraph.templates.some(({ open }) => open);
  let most = hasBound ? plan.slotsPerCell : Infinity;
  for (;;) {
    state.lookups = 0;
    const slots = plan.resolve(cell, state.lookup);
    const mayCome = slots.reduce((sum, { bound = 1 }) => sum + bound, 0);
    claim(!hasBound || mayCome <= most, mayCome, most);
    if (hasBound) most = mayCome;
    // Named branches of wildcards ask as well; what hangs below them is at most as much as the plan has.
    claim(state.lookups <= slots.length + copies * plan.slotsPerCell, state.lookups);
    const ids = new Set(slots.map(({ id }) => id));
    for (const id of before.keys()) claim(ids.has(id), id);
    for (const { id, kind, status, branch, place = -1 } of slots) {
      claim(status === (before.get(id) ?? status), id, status);
      // What hangs below a wildcard, a list, or an output that a result names, makes room for as many as there are, whatever became of it.
      const { each, segments = [] } = plan.slotGraph.templates[place] ?? {};
      const own = each === undefined ? Number(kind === 'click') : segments.length;
      const above = branch.slice(0, branch.length - own);
      const mayMultiply = above.some((segment) => /\*|^#\{|^\[n\]$/.test(segment));
      if (settled.has(status) && !mayMultiply) before.set(id, status);
    }
    checkInputs(slots, state);
    for (const slot of slots) checkGathered(plan, slot, slots, state);
    for (const { id, job } of slots) {
      if (job === undefined) continue;
      claim(job.key === (keys.get(id) ?? job.key), id, job);
      keys.set(id, job.key);
    }
    const byKey = new Map<string, string>();
    for (const { job, record, ready, status } of slots) {
      const mayStart = status === 'pending' && job !== undefined && record === undefined;
      claim(!ready || mayStart, job, status);
      if (job === undefined) continue;
      const text = JSON.stringify([job.request, job.parent, job.inputs]);
      claim((byKey.get(job.key) ?? text) === text, text, byKey.get(job.key));
      byKey.set(job.key, text);
    }
    const open = slots.filter(({ ready }) => ready);
    if (open.length > 0) {
      settle(state, dice.one(open), dice, mayBeInDoubt);
      continue;
    }
    const unsaved = slots.find(({ unsaved }) => unsaved);
    if (unsaved === undefined) return slots;
    const { record } = unsaved;
    if (record !== undefined)
      state.done({ ...unsaved, keep: true }, record.result?.buttons, {
        ...record,
        keep: true,
        artifacts: [{ output: 1, file: 'f', bytes: 1, sha256: 's', mime: 'image/png' }],
      });
  }
}

const kinds: readonly (readonly [string, Parts])[] = [
  ['of images', { texts: false, entries: false }],
  ['of images and texts', { texts: true, entries: false }],
  ['of every kind', { texts: true, entries: true }],
  ['with outputs', { texts: true, entries: true, outputs: true }],
  ['with lists', { texts: true, entries: true, outputs: true, lists: true }],
  ['with picks', { texts: true, entries: false, picks: true }],
];

test.each(kinds)(
  'any pipeline %s, settled job by job in any order, only goes forward and ends',
  async (_, parts) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.boolean(), async (shape, luck, mayBeInDoubt) => {
        const plan = await planOf(randomPipeline(shape, parts), undefined, files);
        for (const cell of await cellsOf(plan)) {
          const slots = runCell(plan, cell, luck + cell.number, mayBeInDoubt);
          const doubtful = slots.some(({ status }) => status === 'in-doubt');
          const open = slots.filter(({ status }) => !settled.has(status));
          expect(open.filter(({ status }) => !doubtful || status !== 'pending')).toEqual([]);
          expect(new Set(slots.map(({ id }) => id)).size).toBe(slots.length);
        }
      }),
      { seed: 20_261, numRuns: 60 },
    );
  },
);

test.each(kinds)('%s: the order in which jobs settle does not change where they end', async (_, parts) => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), fc.nat(), async (shape, one, other) => {
      const plan = await planOf(randomPipeline(shape, parts), undefined, files);
      for (const cell of await cellsOf(plan)) {
        const ends = [one, other].map((seed) => {
          const state = new SimulatedState();
          const dice = new Dice(seed);
          for (;;) {
            const slots = plan.resolve(cell, state.lookup);
            const open = slots.filter(({ ready }) => ready);
            if (open.length === 0)
              return slots.map((slot) => [slot.id, slot.status, slot.error?.code, slot.error?.message]);
            const slot = dice.one(open);
            // What becomes of a job depends on nothing but the job; two are pressed in any order.
            const key = slot.job?.key ?? '';
            const fate = new Dice(Number.parseInt(key.slice(0, 8), 16));
            if (fate.below(5) === 0) state.fail(slot, fate.one(['task.failed', 'button.missing']));
            else if (slot.kind === 'generate') reply(state, { ...slot, keep: true }, fate);
            else if (slot.kind === 'describe')
              state.described({ ...slot, keep: true }, [key], { taskId: key });
            else if (slot.kind === 'video') state.filmed({ ...slot, keep: true }, [key], { taskId: key });
            else
              state.done(
                { ...slot, keep: true },
                offer.slice(0, fate.below(6)).map((label) => button(label)),
                {
                  taskId: key,
                  pressed: button(fate.one(['U1', 'X9'])),
                  ...cut({ ...slot, keep: true }, fate),
                },
              );
          }
        });
        expect(ends[1]).toEqual(ends[0]);
      }
    }),
    { seed: 20_262, numRuns: 30 },
  );
});
