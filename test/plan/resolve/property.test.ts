import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cell } from '../../../src/plan/cell.ts';
import { inputsOf, type JobSpec, needsOf } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { ImageFiles } from '../../../src/plan/request/image-files.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { button, SimulatedState } from '../simulated-state.ts';

/** Deterministic choices from one seed. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(count: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * count);
  }

  one<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

const segments = [
  'U1',
  'U1,U2',
  'U1..U3',
  'U*',
  'V*',
  'Q*?',
  'U1?',
  'U9?,U2',
  'U9',
  'U9?',
  'U9 | U1',
  'V1 | U2?',
  'reroll',
];
const names = (segment: string): string[] =>
  segment.startsWith('U1..') ? ['U1', 'U2', 'U3'] : segment.replace('?', '').split(',');

interface RandomStep {
  readonly name: string;
  /** It starts at the cell, and templates may read it from anywhere. */
  readonly root: boolean;
  /** It makes text, and has no buttons. */
  readonly text: boolean;
  readonly makesImages: boolean;
  readonly path: readonly string[];
  readonly body: Record<string, unknown>;
}

/** A text step, from one that is there or gathering it, which shows, continues and reads some of those that are roots. */
function randomText(dice: Dice, name: string, before: readonly RandomStep[]): RandomStep {
  const roots = before.filter(({ root }) => root);
  const painted = roots.filter(({ makesImages }) => makesImages);
  const asked = roots.filter(({ text }) => text);
  const start = dice.below(4) === 0 ? undefined : dice.one(before);
  const gathers = start?.makesImages === true && dice.below(3) === 0;
  const draws = dice.below(3) === 0;
  const [first] = start?.path ?? [];
  const branch =
    first === undefined ? '' : dice.one(['', '/*', '/**', `/${dice.one(names(first)).replace('*', '1')}`]);
  const images = [
    ...(start === undefined || gathers || !start.makesImages ? [] : [['parent']]),
    ...painted.map((step) => [`steps.${step.name}`]),
    [`https://images.test/{{ b.x }}.png`],
    ['{{ a }}.png'],
    ['{{ b.y }}.png'],
    [],
  ];
  const shown = gathers && dice.below(2) === 0 ? {} : { images: [...dice.one(images), ...dice.one(images)] };
  const prompt = dice.one([
    'which?',
    'which {{ a }}?',
    '{{ b.x }}',
    ...painted.flatMap(({ name, text }) => (text ? [] : [`like {{ steps.${name}.task_id }}`])),
    ...asked.map(
      (step) =>
        `{{ steps.${step.name}.${dice.one(['text', step.makesImages ? 'text' : 'json.x', 'usage.total'])} }}`,
    ),
  ]);
  const continued = asked.length > 0 && dice.below(3) === 0 ? { continue: dice.one(asked).name } : {};
  const member = { type: 'number' };
  const answer = draws
    ? { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }
    : { responseSchema: { type: 'object', properties: { x: member, y: member } } };
  const generate = {
    model: 'm',
    prompt,
    ...answer,
    ...shown,
    ...continued,
  };
  const body = {
    ...(start === undefined ? {} : { [gathers ? 'gather' : 'from']: start.name + branch }),
    generate,
    ...(dice.below(5) === 0 ? { when: 'a == 1' } : {}),
    ...(dice.below(4) === 0 ? { keep: false } : {}),
  };
  return { name, root: start === undefined || gathers, text: true, makesImages: draws, path: [], body };
}

/** What answers a modal, of which some masks cannot be made. */
function randomAnswer(dice: Dice): Record<string, unknown> {
  const prompt = dice.one([{}, { prompt: 'a {{ a }}' }, { prompt: '{{ b.x }}' }]);
  const shapes = [{ ellipse: [0, 0, '{{ a | divided_by: 2.0 }}', 1] }];
  const mask = dice.one([
    {},
    { mask: '{{ a }}.png' },
    { mask: { shapes, invert: true } },
    { mask: { file: 'm.png', invert: true } },
  ]);
  return { ...prompt, ...mask, ...dice.one([{}, { remix: true }]) };
}

/** A describe, video or edit, from one that is there, or of images that are. */
function randomEntry(
  dice: Dice,
  name: string,
  {
    all,
    path,
    start,
    address,
    shared,
  }: {
    readonly all: readonly RandomStep[];
    readonly path: readonly string[];
    readonly start: RandomStep;
    readonly address: string;
    readonly shared: Record<string, unknown>;
  },
): RandomStep {
  const root = dice.below(2) === 0;
  const painted = all.filter((step) => step.root && step.makesImages).map((step) => `steps.${step.name}`);
  const image = (): string =>
    dice.one([
      ...(root || !start.makesImages ? [] : ['parent']),
      'm.png',
      '{{ a }}.png',
      '{{ b.y }}.png',
      ...painted,
    ]);
  const prompt = dice.one(['a hat', '{{ b.x }}']);
  const kind = dice.below(4);
  const operation =
    kind === 0
      ? { describe: { image: image() } }
      : kind === 1
        ? { video: { image: image(), prompt, ...dice.one([{}, { endImage: image() }]) } }
        : kind === 2
          ? { blend: { images: [image(), image()] } }
          : { edit: { image: image(), prompt, mask: 'm.png' } };
  const makesImages = kind > 1;
  return {
    name,
    root,
    text: false,
    makesImages,
    path,
    body: { ...(root ? {} : { from: address }), ...operation, ...shared },
  };
}

function randomStep(
  dice: Dice,
  index: number,
  all: readonly RandomStep[],
  gathers: boolean,
  { texts, entries }: Parts,
): RandomStep {
  const before = all.filter(({ text, makesImages }) => !text && (makesImages || (entries && !gathers)));
  const roots = before.filter(({ root }) => root);
  const path = Array.from({ length: dice.below(3) }, () => dice.one(segments));
  const when = dice.one([
    {},
    {},
    {},
    { when: 'a == 1' },
    ...roots.map(({ name }) => ({ when: `steps.${name}.task_id contains "1"` })),
  ]);
  const shared = {
    ...when,
    ...(path.length === 0 ? {} : { path: path.join(' → ') }),
    ...(dice.below(4) === 0 ? { keep: false } : {}),
  };
  const name = `s${index}`;
  if (texts && before.length > 0 && dice.below(5) < 2) return randomText(dice, name, all);
  if (before.length === 0 || (!gathers && dice.below(5) === 0)) {
    const prompt = dice.one([
      'a fox',
      'a {{ a }}',
      '{{ b.x }}',
      ...roots.map((root) => `{{ steps.${root.name}.task_id }}`),
      ...roots.flatMap(({ name, body }) => (body.describe ? [`{{ steps.${name}.prompts[0] }}`] : [])),
      ...roots.flatMap(({ name, body }) => (body.video ? [`{{ steps.${name}.video_url }}`] : [])),
    ]);
    return { name, root: true, text: false, makesImages: true, path, body: { imagine: prompt, ...shared } };
  }
  const start = dice.one(before);
  const [first] = start.path;
  const branch = first === undefined ? '' : `/${dice.one(names(first)).replace('*', '1')}`;
  const address =
    start.name + dice.one(['', branch, first === undefined ? '' : '/*', first === undefined ? '' : '/**']);
  if (gathers) {
    const prompt = dice.one(['the best', 'the {{ a }}', '{{ b.x }}']);
    // Two to five, as far as the file says; a wildcard finds any number, and an optional button none.
    const mayBlend = entries && start.root && address.endsWith('/*') && /[,*]|\.\./.test(first ?? '');
    const operation = dice.one([
      { imagine: prompt },
      { imagine: { prompt, images: [] } },
      ...(mayBlend ? [{ blend: { dimensions: 'square' } }] : []),
    ]);
    return {
      name,
      root: true,
      text: false,
      makesImages: true,
      path,
      body: { gather: address, ...operation, ...shared },
    };
  }
  if (entries && dice.below(2) === 0) return randomEntry(dice, name, { all, path, start, address, shared });
  const click = dice.one([
    'V1',
    'U*',
    'X9',
    'X9?',
    '{{ b.x }}',
    ...roots.flatMap(({ name, makesImages }) => (makesImages ? [`{{ steps.${name}.button }}`] : [])),
  ]);
  return {
    name,
    root: false,
    text: false,
    makesImages: start.makesImages,
    path,
    body: { from: address, click, ...(entries ? randomAnswer(dice) : {}), ...shared },
  };
}

/** What a random pipeline may have beside imagines and clicks. */
interface Parts {
  readonly texts: boolean;
  readonly entries: boolean;
}

function randomPipeline(seed: number, parts: Parts): string {
  const dice = new Dice(seed);
  const steps: RandomStep[] = [];
  for (let index = 0; index <= dice.below(5); index += 1)
    steps.push(randomStep(dice, index, steps, index > 0 && dice.below(3) === 0, parts));
  const shuffled = steps.map((step) => [dice.below(1000), step] as const).sort(([a], [b]) => a - b);
  return JSON.stringify({
    matrix: { a: [1, 2], b: [{ x: 'U1' }, { y: 'oil' }] },
    steps: Object.fromEntries(shuffled.map(([, { name, body }]) => [name, body])),
  });
}

const settled = new Set(['done', 'failed', 'skipped', 'blocked', 'in-doubt']);
const answers = ['{"x": 1.0}', '{"y": 2}'];
const offer = ['U1', 'U2', 'U3', 'V1', 'V2', ''];

/** What asks for images gets some, mostly. */
function answer(state: SimulatedState, slot: Slot, dice: Dice): void {
  const draws = slot.job?.request.fields.generationConfig !== undefined && dice.below(3) > 0;
  const picture = { output: 1, file: 'f', bytes: 1, sha256: 's', mime: 'image/png', candidate: 1 };
  const artifacts = draws && slot.keep ? { artifacts: [picture] } : {};
  state.answer(slot, dice.one(answers), dice.below(4) > 0, artifacts);
}

function settle(state: SimulatedState, slot: Slot, dice: Dice, mayDoubt: boolean): void {
  const outcome = dice.below(10);
  const error = { code: outcome === 0 ? 'button.missing' : 'task.failed', message: 'no' };
  if (outcome === 9 && mayDoubt && slot.kind !== 'generate') state.put(slot, 'in-doubt', { error });
  else if (outcome < 2) state.put(slot, 'failed', { error });
  else if (slot.kind === 'generate') answer(state, slot, dice);
  else if (slot.kind === 'describe') state.described(slot, dice.one([['a hat', 'a fox'], []]));
  else if (slot.kind === 'video') state.filmed(slot, dice.one([['1', '2'], ['1'], []]));
  else {
    const buttons = offer.filter(() => dice.below(3) > 0).map((label) => button(label));
    state.done(slot, buttons, { pressed: button(dice.one(['U1', 'U2', 'X9'])) });
  }
}

/** What a job continues or gathers is less deep, and done before the job may start. */
function checkInputs(slots: readonly Slot[], state: SimulatedState): void {
  const depths = new Map<string, number>();
  for (const { job, depth } of slots)
    if (job !== undefined) depths.set(job.key, Math.min(depth, depths.get(job.key) ?? depth));
  for (const { job, depth, ready } of slots) {
    if (job === undefined) continue;
    expect(job.inputs).not.toEqual([]);
    for (const key of needsOf(job)) {
      // Named before it is found, a wildcard's branch is no slot yet.
      expect(depths.get(key) ?? 0).toBeLessThan(depth);
      if (ready) expect(state.records.get(key)?.status).toBe('done');
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
  const places = [...(plan.slotGraph.places[slot.place ?? -1]?.gathers?.places ?? [])];
  // A branch that is named before it is found has no slot to compare with.
  if (places.length === 0 || places.some(({ copyOf }) => copyOf !== undefined)) return;
  const indexes = new Set(places.map(({ index }) => index));
  const all = slots.filter(({ place }) => indexes.has(place ?? -1));
  const taken = all.filter(({ status }) => status !== 'skipped');
  const stopped = all.filter(({ status }) => status === 'failed' || status === 'blocked');
  const done = all.filter(({ status, unsaved }) => status === 'done' || unsaved);
  if (slot.job !== undefined) expect(inputsOf(slot.job)).toEqual(taken.map(({ job }) => job?.key));
  if (taken.length === 0) expect(slot.status).toBe('skipped');
  else if (stopped.length > 0) expect(['skipped', 'failed', 'blocked']).toContain(slot.status);
  else if (done.length < taken.length) expect(slot.ready).toBe(false);
  else if (slot.job !== undefined && hasAll(slot.job, state))
    expect(slot.ready || slot.record !== undefined).toBe(true);
}

/** Runs one cell, one job at a time in any order, and checks each step of the way. */
function runCell(plan: Plan, cell: Cell, seed: number, mayDoubt: boolean): readonly Slot[] {
  const dice = new Dice(seed);
  const state = new SimulatedState();
  const before = new Map<string, string>();
  const keys = new Map<string, string>();
  const copies = plan.slotGraph.places.reduce((sum, { names }) => sum + names.size, 0);
  for (;;) {
    state.lookups = 0;
    const slots = plan.resolve(cell, state.lookup);
    // Named branches of wildcards ask as well; what hangs below them is at most as much as the plan has.
    expect(state.lookups).toBeLessThanOrEqual(slots.length + copies * plan.slotsPerCell);
    const ids = new Set(slots.map(({ id }) => id));
    expect([...before.keys()].filter((id) => !ids.has(id))).toEqual([]);
    for (const { id, kind, status, branch } of slots) {
      expect(status).toBe(before.get(id) ?? status);
      // What hangs below a wildcard makes room for as many as there are buttons, whatever became of it.
      const above = kind === 'click' ? branch.slice(0, -1) : branch;
      const mayMultiply = above.some((segment) => segment.includes('*'));
      if (settled.has(status) && !mayMultiply) before.set(id, status);
    }
    checkInputs(slots, state);
    for (const slot of slots) checkGathered(plan, slot, slots, state);
    for (const { id, job } of slots) {
      if (job === undefined) continue;
      expect(job.key).toBe(keys.get(id) ?? job.key);
      keys.set(id, job.key);
    }
    const byKey = new Map<string, string>();
    for (const { job, record, ready, status } of slots) {
      const mayStart = status === 'pending' && job !== undefined && record === undefined;
      expect(ready && !mayStart).toBe(false);
      if (job === undefined) continue;
      const text = JSON.stringify([job.request, job.parent, job.inputs]);
      expect(byKey.get(job.key) ?? text).toBe(text);
      byKey.set(job.key, text);
    }
    const open = slots.filter(({ ready }) => ready);
    if (open.length > 0) {
      settle(state, dice.one(open), dice, mayDoubt);
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
];

/** Of the images that texts name, one is not there. */
const files: ImageFiles = {
  facts: (path) =>
    path === '2.png'
      ? { error: { code: 'input.missing', message: 'no' } }
      : { sha256: `sha of ${path}`, bytes: 1 },
};

test.each(kinds)(
  'any pipeline %s, settled job by job in any order, only goes forward and comes to its end',
  async (_, parts) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.boolean(), async (shape, luck, mayDoubt) => {
        const plan = await planOf(randomPipeline(shape, parts), undefined, files);
        for (const cell of await cellsOf(plan)) {
          const slots = runCell(plan, cell, luck + cell.number, mayDoubt);
          const doubtful = slots.some(({ status }) => status === 'in-doubt');
          const open = slots.filter(({ status }) => !settled.has(status));
          expect(open.filter(({ status }) => !doubtful || status !== 'pending')).toEqual([]);
          expect(new Set(slots.map(({ id }) => id)).size).toBe(slots.length);
        }
      }),
      { seed: 20_261, numRuns: 120 },
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
            else if (slot.kind === 'generate') answer(state, { ...slot, keep: true }, fate);
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
                },
              );
          }
        });
        expect(ends[1]).toEqual(ends[0]);
      }
    }),
    { seed: 20_262, numRuns: 80 },
  );
});
