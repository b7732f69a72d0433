import type { JobRecord } from '../../../src/plan/job.ts';
import type { ImageFiles } from '../../../src/plan/request/image-files.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { framesOf } from '../../rig/frames.ts';
import type { SimulatedState } from '../simulated-state.ts';

/** Deterministic choices from one seed. */
export class Dice {
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
  segment === '#1..#2'
    ? ['#1', '#2', '#*']
    : segment.startsWith('U1..')
      ? ['U1', 'U2', 'U3']
      : segment.replace('?', '').split(',');

/** An output of a step that cuts its grids, or nothing. */
function randomOutput(dice: Dice, { body }: RandomStep, all: readonly RandomStep[]): string {
  if (body.grid !== 'split') return '';
  const judges = all.filter(({ root, text, makesImages }) => root && text && !makesImages);
  const numbers = ['1', '2', '*', '{{ a }}', ...judges.map(({ name }) => `{{ steps.${name}.json.x }}`)];
  return dice.one(['', ...numbers.map((number) => `/#${number}`)]);
}

const isOutput = (address: string): boolean => /\/#[^/]*$/.test(address);

/** A list of the matrix, or one that a text step answers: that is what the step has a job for each item of. */
function randomEach(dice: Dice, all: readonly RandomStep[]): Record<string, unknown> {
  const judges = all.filter(({ root, text, makesImages }) => root && text && !makesImages);
  const lists = [
    'b.l',
    ...judges.flatMap(({ name }) => [`steps.${name}.json.l`, `steps.${name}.text | lines`]),
  ];
  return { each: `{{ ${dice.one(lists)} }}`, ...dice.one([{ max: 5 }, { max: 2 }, { max: 3 }]) };
}

/** The step, with a job for each item of a list. Its templates read the item, or they do not. */
function withEach(dice: Dice, step: RandomStep, all: readonly RandomStep[]): RandomStep {
  const item = dice.one(['{{ item }}', '{{ item_index }}: {{ item }}', 'the same']);
  const when = dice.one([{}, {}, { when: 'item != "x"' }]);
  const { imagine, generate } = step.body as { imagine?: unknown; generate?: Record<string, unknown> };
  const prompted = generate
    ? { generate: { ...generate, prompt: item } }
    : typeof imagine === 'string'
      ? { imagine: item }
      : {};
  return { ...step, root: false, body: { ...step.body, ...prompted, ...randomEach(dice, all), ...when } };
}

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

/** Of which more are used than a step allows at times. */
const listSchemas = [3, 3, 3, 0].map((maxItems) => ({ type: 'array', maxItems }));

/** A text step, from one that is there or gathering it, which shows, continues and reads some of those that are roots. */
function randomText(dice: Dice, name: string, before: readonly RandomStep[], lists: boolean): RandomStep {
  const roots = before.filter(({ root }) => root);
  const painted = roots.filter(({ makesImages }) => makesImages);
  const asked = roots.filter(({ text }) => text);
  const start = dice.below(4) === 0 ? undefined : dice.one(before);
  const gathers = start?.makesImages === true && dice.below(3) === 0;
  const draws = dice.below(3) === 0;
  const [first] = start?.path ?? [];
  const branch =
    first === undefined
      ? start === undefined
        ? ''
        : randomOutput(dice, start, before)
      : first.startsWith('#')
        ? dice.one(['', '/**', `/${dice.one(names(first))}`])
        : dice.one(['', '/*', '/**', `/${dice.one(names(first)).replace('*', '1')}`]);
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
  const reply = draws
    ? { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }
    : {
        responseSchema: {
          type: 'object',
          properties: { x: member, y: member, ...(lists && { l: dice.one(listSchemas) }) },
        },
      };
  const generate = {
    model: 'm',
    prompt,
    ...reply,
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
function randomReplyStep(dice: Dice): Record<string, unknown> {
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
  { texts, entries, outputs, lists = false }: Parts,
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
  if (texts && before.length > 0 && dice.below(5) < 2) return randomText(dice, name, all, lists);
  if (before.length === 0 || (!gathers && dice.below(5) === 0)) {
    const prompt = dice.one([
      'a fox',
      'a {{ a }}',
      '{{ b.x }}',
      ...roots.map((root) => `{{ steps.${root.name}.task_id }}`),
      ...roots.flatMap(({ name, body }) => (body.describe ? [`{{ steps.${name}.prompts[0] }}`] : [])),
      ...roots.flatMap(({ name, body }) => (body.video ? [`{{ steps.${name}.video_url }}`] : [])),
    ]);
    const splits = outputs === true && dice.below(3) > 0;
    if (splits && dice.below(3) === 0) path.unshift('#1..#2', dice.one(['U', 'V', 'U,V', 'U?']));
    const pressed = path.length === 0 ? {} : { path: path.join(' → ') };
    const { keep, ...others } = shared;
    const isKept = keep === undefined || (splits && path[0]?.startsWith('#') !== true);
    const body = {
      imagine: prompt,
      ...others,
      ...pressed,
      ...(isKept ? {} : { keep }),
      ...(splits && { grid: 'split' }),
    };
    return { name, root: true, text: false, makesImages: true, path, body };
  }
  const start = dice.one(before);
  const [first] = start.path;
  const branch = first === undefined ? '' : `/${dice.one(names(first)).replace('*', '1')}`;
  const output = first === undefined ? randomOutput(dice, start, all) : '';
  const stars = first === undefined ? ['', ''] : [first.startsWith('#') ? '/#*' : '/*', '/**'];
  const address = start.name + dice.one([output, branch, ...stars]);
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
  const click = isOutput(address)
    ? dice.one(['U', 'V', 'V?'])
    : dice.one([
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
    body: { from: address, click, ...(entries ? randomReplyStep(dice) : {}), ...shared },
  };
}

/** What a random pipeline may have beside imagines and clicks. */
export interface Parts {
  readonly texts: boolean;
  readonly entries: boolean;
  readonly outputs?: boolean;
  readonly lists?: boolean;
  readonly over?: boolean;
  readonly picks?: boolean;
}

/** Steps that gather one that is there over an axis or all, follow from that, gather its results once more, or gather it over another axis. */
function randomGroups(dice: Dice, all: readonly RandomStep[]): readonly RandomStep[] {
  const root = { root: false, text: true, makesImages: false, path: [] } as const;
  const start = dice.one(all);
  const [first] = start.path;
  const branch = first === undefined ? '' : dice.one(['', `/${dice.one(names(first)).replace('*', '1')}`]);
  const axes = ['a', 'b'].slice(...dice.one([[0, 1], [1], []] as const));
  const prompt = dice.one([
    'sum up',
    '{{ gathered | size }}',
    '{% for one in gathered %}{{ one.a }} {% endfor %}',
    ...(start.text && branch === '' ? ['{{ gathered | map: "text" | join }}'] : []),
  ]);
  const responseSchema = {
    type: 'object',
    properties: { x: { type: 'number' }, y: { type: 'number' }, l: listSchemas[0] },
  };
  const gather = (step: string, over: readonly string[] | 'all'): Record<string, unknown> => ({
    gather: { step, over, ...dice.one([{}, { failed: 'ignore' }]) },
    generate: { model: 'm', prompt, ...dice.one([{}, { images: [] }]), responseSchema },
  });
  const text = { model: 'm', prompt: 'after {{ steps.g.json.x }}' };
  const more = [
    { from: 'g', generate: text },
    { generate: text, each: '{{ steps.g.json.l }}', max: 2 },
    { gather: { step: 'g', over: 'all' }, generate: { model: 'm', prompt: '{{ gathered | size }}' } },
    gather(start.name + branch, dice.one([['a'], ['b'], 'all'] as const)),
  ].filter(() => dice.below(2) > 0);
  const bodies = [gather(start.name + branch, axes.length === 2 ? 'all' : axes), ...more];
  return bodies.map((body, at) => ({ ...root, name: at === 0 ? 'g' : `g${at}`, body }));
}

/** Branches or frames of a grid, a number for each, a pick of the best, and steps that go on from it. */
function randomPicks(dice: Dice): Record<string, unknown> {
  const isCut = dice.below(2) === 0;
  const from = isCut ? 'g/#*' : 'g/*';
  const path = dice.one(['U1..U3', 'U*', 'U1?,U2', 'U1,U2,U9']);
  const number = { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } } };
  const judge = { model: 'm', prompt: dice.one(['which?', 'which {{ a }}?']), responseSchema: number };
  const by = dice.one([
    '{{ steps.j.json.x }}',
    '{{ steps.j.json.y | times: -1 }}',
    '{{ steps.j.text | size }}',
  ]);
  const said = dice.one(['so', '{{ steps.j.text }}', '{{ steps.j.json.x }}']);
  return {
    g: { imagine: 'the grid of {{ a }}', ...(isCut ? { grid: 'split' } : { path }) },
    j: {
      from,
      generate: { ...judge, ...dice.one([{}, { images: ['parent'] }]) },
      ...dice.one([{}, {}, { when: 'a == 1' }]),
    },
    p: { best: { from, by, top: 1 + dice.below(4), ...dice.one([{}, { failed: 'ignore' }]) } },
    after: { from: dice.one(['p', 'p/*', 'p/1']), click: isCut ? dice.one(['U', 'V', 'V?']) : 'V1' },
    tale: {
      from: dice.one(['p', 'p/1']),
      generate: { model: 'm', prompt: said, ...dice.one([{}, { images: ['parent'] }]) },
    },
    mix: { gather: 'p', imagine: 'the best' },
  };
}

export function randomPipeline(seed: number, parts: Parts): string {
  const dice = new Dice(seed);
  const steps: RandomStep[] = [];
  // Most lists are then answers.
  if (parts.lists === true) steps.push(randomText(dice, 'ideas', [], true));
  for (let index = 0; index <= dice.below(5); index += 1) {
    const step = randomStep(dice, index, steps, index > 0 && dice.below(3) === 0, parts);
    steps.push(parts.lists === true && dice.below(3) === 0 ? withEach(dice, step, steps) : step);
  }
  if (parts.over === true) steps.push(...randomGroups(dice, steps));
  const shuffled = steps.map((step) => [dice.below(1000), step] as const).sort(([a], [b]) => a - b);
  return JSON.stringify({
    matrix: { a: [1, 2], b: [{ x: 'U1', ...(parts.lists && { l: ['a', 'x', 'a'] }) }, { y: 'oil' }] },
    steps: {
      ...Object.fromEntries(shuffled.map(([, { name, body }]) => [name, body])),
      ...(parts.picks && randomPicks(dice)),
    },
  });
}

/** Of the images that texts name, one is not there. */
export const files: ImageFiles = {
  facts: (path) =>
    path === '2.png'
      ? { error: { code: 'input.missing', message: 'no' } }
      : { sha256: `sha of ${path}`, bytes: 1 },
};

const replies = ['{"x": 1.0}', '{"y": 2}'];
const lists = ['["a","b"]', '["b","a","b"]', '[]', '["x"]', '["c","d","e"]', '"none"', '[]'];

/** Of most grids that are kept and are to be cut, the four frames; of others, that they stay whole. */
export const cut = ({ split, keep }: Slot, dice: Dice): Pick<JobRecord, 'frames'> =>
  split !== true || !keep
    ? {}
    : dice.below(4) === 0
      ? { frames: { files: [], error: { code: 'frames.file', message: 'no' } } }
      : { frames: { files: framesOf('g', {}) } };

/** What asks for images gets some, mostly. */
export function reply(state: SimulatedState, slot: Slot, dice: Dice): void {
  const draws = slot.job?.request.fields.generationConfig !== undefined && dice.below(3) > 0;
  const picture = { output: 1, file: 'f', bytes: 1, sha256: 's', mime: 'image/png', candidate: 1 };
  const artifacts = draws && slot.keep ? { artifacts: [picture] } : {};
  const said = dice.one(replies);
  const schema = slot.job?.request.fields.responseSchema as
    | { properties?: { l?: { maxItems: number } } }
    | undefined;
  const { l } = schema?.properties ?? {};
  const list = l?.maxItems === 0 ? '[]' : dice.one(lists);
  const text = l ? said.replace('}', `, "l": ${list}}`) : said;
  state.reply(slot, text, dice.below(4) > 0, artifacts);
}
