import type { TurnPlace } from '../rig/drive.ts';
import { Chance } from './chance.ts';
import {
  type AskFault,
  askFaults,
  type FetchFault,
  fetchFaults,
  type MaskFault,
  maskFaults,
  type SaveFault,
  type SubmitFault,
  saveFaults,
  submitFaults,
} from './faults.ts';
import { isTask, type KindName, kindNames } from './kinds.ts';

/** One start of the command, and how it ends early, if it does. */
export interface Invocation {
  readonly death?: { readonly turn: number; readonly place: TurnPlace };
  /** The disk fails at this commit, for good or for so many commits. */
  readonly disk?: {
    readonly commit: number;
    readonly code: 'state.full' | 'state.readonly' | 'state.io' | 'state.busy';
    readonly commits?: number;
  };
  /** First signal, ms after the start. */
  readonly drainAfterMs?: number;
  /** ms that pass before it, by the machine's clock; negative when the clock was set back. */
  readonly gapMs: number;
  readonly retryFailed: boolean;
  readonly inDoubt: 'hold' | 'retry' | 'find';
  /** `--limit`: only so many cells are planned this time. */
  readonly cells?: number;
  /** `--redo` of this share of what is done. */
  readonly redo?: number;
  /** The pipeline says `keep: false` of its grid this time. */
  readonly unkept?: true;
}

/** Everything about one simulated history, as data: what a failing seed is reduced to. */
export interface Scenario {
  readonly seed: number;
  readonly cells: number;
  /** Of the grid; absent: the pipeline has none. */
  readonly path?: string;
  readonly kinds: readonly KindName[];
  readonly limits: {
    readonly tasks: number;
    readonly requests: number;
    readonly submitPerMinute?: number;
    readonly textPerMinute?: number;
    readonly tokensPerMinute?: number;
  };
  readonly retry: {
    readonly attempts: number;
    readonly resubmits: number;
    readonly ambiguous: 'retry' | 'hold';
    readonly invalid: number;
  };
  readonly budget?: number;
  readonly tokenBudget?: number;
  /** Of money, where each task costs 1. */
  readonly costBudget?: number;
  readonly commitMs: number;
  /** So many requests go well at first, so that trouble is also met far down a path. */
  readonly calm?: number;
  readonly lag: boolean;
  /** Links, videos and prompts come later than SUCCESS; of what has more than an image, that is there first. */
  readonly resultsLag: boolean;
  /** A task goes on showing MODAL until its work is done, or for as long as a gateway takes to ask for it anew. */
  readonly lingers: 'no' | 'work' | 'refresh';
  /** Share of clicks that open no modal, whatever they ask for. */
  readonly windowless?: number;
  /** Tasks are looked at together: `odd` lists miss some and have two rows of others; or that is wanted of a gateway that cannot. */
  readonly listing: 'off' | 'on' | 'odd' | 'refused';
  /** What is wrong with the list that `--in-doubt find` reads. Absent: nothing. */
  readonly taskList?: 'none' | 'misses' | 'lags' | 'untagged';
  /**
   * An open modal is answered in vain after so long: the answer is refused, the task has failed meanwhile, or fails as soon as
   * it goes on.
   */
  readonly modalLife?: { readonly ms: number; readonly how: 'refused' | 'failed' | 'begun in vain' };
  /** So often the customIds of a task change, ms. Absent: never. */
  readonly buttonLifeMs?: number;
  /** Tasks that the service takes at a time. */
  readonly capacity?: number;
  readonly submit: Readonly<Partial<Record<SubmitFault, number>>>;
  readonly mask: Readonly<Partial<Record<MaskFault, number>>>;
  readonly fetch: Readonly<Partial<Record<FetchFault, number>>>;
  readonly save: Readonly<Partial<Record<SaveFault, number>>>;
  readonly ask: Readonly<Partial<Record<AskFault, number>>>;
  /**
   * Shares of tasks that end in a failure that may pass, in one that never does, or not at all; of which the service knows
   * nothing any more; and that succeed without a link to what they made.
   */
  readonly ends: Readonly<Record<TroubledEnd, number>>;
  /** Some jobs the gateway never takes, whatever it takes of others: always with the same answer. */
  readonly barred?: 'code-3-account' | 'code-23' | '429';
  /** Some tasks it never tells of again, once it has told that they are finished. */
  readonly hidden?: '429' | '500' | 'broken-json';
  readonly invocations: readonly Invocation[];
}

/** After which there are buttons, and images, for steps of every kind. */
const upscaled = ['U1', 'U1..U4', 'U1,U3 → Vary (Strong)'];

export const troubledEnds = ['transient', 'permanent', 'stuck', 'lost', 'linkless'] as const;
type TroubledEnd = (typeof troubledEnds)[number];

/** Every task succeeds. */
export const calmEnds: Scenario['ends'] = { transient: 0, permanent: 0, stuck: 0, lost: 0, linkless: 0 };

const paths = [
  '',
  'U1',
  'U1..U4',
  'U1,U3 → Vary (Strong)',
  'U* → Vary (Subtle)',
  'U2 → Nowhere? → U1',
  'Nowhere | U4',
  'V1 → U1 → Zoom Out 2x',
];

/** What has to be asked for, so that such a fault comes about. */
const neededFor: Readonly<Partial<Record<string, KindName>>> = { 'no-videos': 'film', 'no-prompts': 'words' };

/** Of the requests of a route, the share that goes wrong at the most. */
const mostTrouble = 0.7;

/** Draws a whole history from one seed. */
export function drawScenario(seed: number): Scenario {
  const chance = new Chance(seed);
  // Most histories have few kinds of trouble, so that each kind is also seen alone; each kind has its turn.
  const trouble = chance.pick([0.02, 0.1, 0.3], 'trouble');
  const rates = <K extends string>(kinds: readonly K[], what: string): Partial<Record<K, number>> => {
    const inTurn = kinds[seed % kinds.length];
    const drawn = kinds
      .filter((kind) => kind === inTurn || chance.happens(trouble, what, kind))
      .map((kind) => [kind, chance.pick([0.05, 0.2, 0.5], what, kind, 'rate')] as const);
    // Something has to come out well, or nothing is seen of what follows.
    const sum = drawn.reduce((total, [, rate]) => total + rate, 0);
    const scale = Math.min(1, mostTrouble / sum);
    return Object.fromEntries(
      drawn.map(([kind, rate]) => [kind, Number((rate * scale).toPrecision(2))]),
    ) as Partial<Record<K, number>>;
  };
  const share = (what: string): number =>
    chance.happens(0.25, what) ? chance.pick([0.1, 0.4], what, 'share') : 0;
  const count = chance.whole(1, 6, 'invocations');
  const invocations = Array.from({ length: count }, (_, n) => drawInvocation(chance, n));
  // What nobody wanted when it had no link stays without a file when somebody does, which is no trouble of the service.
  const isUnkept = invocations.some(({ unkept }) => unkept === true);
  const hasTexts = chance.happens(0.6, 'texts');
  const inTurn =
    neededFor[fetchFaults[seed % fetchFaults.length] ?? ''] ?? kindNames[seed % kindNames.length];
  const isOfTask = inTurn !== undefined && isTask(inTurn);
  const hasGrid = isOfTask || !(hasTexts && chance.happens(0.4, 'no grid'));
  return {
    seed,
    cells: chance.whole(1, isOfTask ? 6 : 12, 'cells'),
    ...(hasGrid && { path: chance.pick(isOfTask ? upscaled : paths, 'path') }),
    kinds: kindNames.filter(
      (name) => name === inTurn || chance.happens(isTask(name) ? 0.25 : hasTexts ? 0.35 : 0, 'kind', name),
    ),
    limits: {
      tasks: chance.pick([1, 2, 3, 12], 'tasks'),
      requests: chance.pick([1, 2, 4, 16], 'requests'),
      ...(chance.happens(0.3, 'rate') && { submitPerMinute: chance.pick([6, 60], 'rate', 'of') }),
      ...(chance.happens(0.3, 'text rate') && { textPerMinute: chance.pick([6, 60], 'text rate', 'of') }),
      ...(chance.happens(0.4, 'tokens') && {
        tokensPerMinute: chance.pick([2000, 10_000, 100_000], 'tokens', 'of'),
      }),
    },
    retry: {
      attempts: chance.pick([1, 2, 6], 'attempts'),
      resubmits: chance.pick([0, 1, 2], 'resubmits'),
      ambiguous: chance.pick(['retry', 'hold'] as const, 'ambiguous'),
      invalid: chance.pick([0, 1, 2], 'invalid'),
    },
    ...(chance.happens(0.2, 'budget') && { budget: chance.whole(1, 30, 'budget', 'of') }),
    ...(chance.happens(0.2, 'cost budget') && { costBudget: chance.whole(1, 30, 'cost budget', 'of') }),
    ...(chance.happens(0.2, 'token budget') && {
      tokenBudget: chance.whole(1000, 100_000, 'token budget', 'of'),
    }),
    commitMs: chance.pick([0, 1, 500], 'commit'),
    ...(isOfTask && chance.happens(0.7, 'calm') && { calm: chance.pick([15, 30, 60], 'calm', 'for') }),
    lag: chance.happens(0.3, 'lag'),
    resultsLag: chance.happens(0.3, 'results lag'),
    lingers: chance.pick(['no', 'no', 'work', 'refresh'] as const, 'lingers'),
    ...(chance.happens(0.15, 'windowless') && { windowless: chance.pick([0.3, 1], 'windowless', 'share') }),
    listing: chance.pick(['off', 'off', 'on', 'odd', 'refused'] as const, 'listing'),
    ...(chance.happens(0.3, 'capacity') && { capacity: chance.whole(1, 6, 'capacity', 'of') }),
    ...(chance.happens(0.3, 'button life') && {
      buttonLifeMs: chance.pick([2000, 12_000, 60_000], 'button life', 'of'),
    }),
    ...(chance.happens(0.5, 'task list') && {
      taskList: chance.pick(['none', 'misses', 'lags', 'untagged'] as const, 'task list', 'of'),
    }),
    ...(chance.happens(isOfTask ? 0.4 : 0.1, 'modal life') && {
      modalLife: {
        ms: chance.pick([500, 5000, 60_000], 'modal life', 'of'),
        how: chance.pick(['refused', 'failed', 'begun in vain'] as const, 'modal life', 'how'),
      },
    }),
    submit: rates(submitFaults, 'submit'),
    mask: rates(maskFaults, 'mask'),
    fetch: rates(
      fetchFaults.filter((fault) => fault !== 'no-link' || !isUnkept),
      'fetch',
    ),
    save: rates(saveFaults, 'save'),
    ask: rates(askFaults, 'ask'),
    ends: {
      transient: share('transient'),
      permanent: share('permanent'),
      stuck: share('stuck'),
      lost: share('lost') / 2,
      linkless: isUnkept ? 0 : share('linkless') / 2,
    },
    ...(chance.happens(0.15, 'barred') && {
      barred: chance.pick(['code-3-account', 'code-23', '429'] as const, 'barred', 'by'),
    }),
    ...(chance.happens(0.15, 'hidden') && {
      hidden: chance.pick(['429', '500', 'broken-json'] as const, 'hidden', 'by'),
    }),
    invocations,
  };
}

function drawInvocation(chance: Chance, n: number): Invocation {
  const end = chance.pick(['death', 'death', 'disk', 'drain', 'none'] as const, n, 'end');
  return {
    gapMs: chance.pick([0, 1000, 60_000, 90_000_000, -3_600_000], n, 'gap'),
    retryFailed: chance.happens(0.2, n, 'retry-failed'),
    inDoubt: chance.happens(0.2, n, 'in-doubt') ? 'retry' : chance.happens(0.25, n, 'find') ? 'find' : 'hold',
    ...(chance.happens(0.2, n, 'fewer cells') && { cells: chance.whole(0, 6, n, 'fewer cells', 'of') }),
    ...(chance.happens(0.2, n, 'redo') && { redo: chance.pick([0.3, 1], n, 'redo', 'share') }),
    ...(chance.happens(0.2, n, 'unkept') && { unkept: true as const }),
    ...(end === 'death' && {
      death: {
        turn: chance.whole(1, chance.pick([5, 40, 200], n, 'about'), n, 'turn'),
        place: chance.pick(
          ['before-commit', 'after-commit', 'after-first-errand', 'after-errands'] as const,
          n,
          'place',
        ),
      },
    }),
    ...(end === 'disk' && {
      disk: {
        commit: chance.whole(1, 40, n, 'commit'),
        code: chance.pick(['state.full', 'state.readonly', 'state.io', 'state.busy'] as const, n, 'code'),
        ...(chance.happens(0.6, n, 'disk passes') && { commits: chance.pick([1, 3], n, 'commits') }),
      },
    }),
    ...(end === 'drain' && { drainAfterMs: chance.whole(0, 120_000, n, 'drain') }),
  };
}

const routes = ['submit', 'mask', 'fetch', 'save', 'ask'] as const;

/** Simpler histories, simplest first: a failing one is replaced by the first of these that fails too. */
export function* simpler(scenario: Scenario): Generator<Scenario> {
  if (scenario.cells > 1) {
    yield { ...scenario, cells: 1 };
    yield { ...scenario, cells: Math.ceil(scenario.cells / 2) };
    yield { ...scenario, cells: scenario.cells - 1 };
  }
  if (scenario.kinds.length > 1) yield { ...scenario, kinds: [] };
  for (const at of scenario.kinds.keys()) yield { ...scenario, kinds: scenario.kinds.toSpliced(at, 1) };
  if (scenario.path !== undefined && scenario.kinds.length > 0) {
    const { path: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.path !== undefined && scenario.path !== '') {
    yield { ...scenario, path: '' };
    if (scenario.path !== 'U1') yield { ...scenario, path: 'U1' };
  }
  for (const at of scenario.invocations.keys())
    yield { ...scenario, invocations: scenario.invocations.toSpliced(at, 1) };
  for (const route of routes) if (Object.keys(scenario[route]).length > 1) yield { ...scenario, [route]: {} };
  for (const route of routes)
    for (const kind of Object.keys(scenario[route])) {
      const { [kind as never]: _, ...rest } = scenario[route];
      yield { ...scenario, [route]: rest };
    }
  for (const end of troubledEnds)
    if (scenario.ends[end] > 0) yield { ...scenario, ends: { ...scenario.ends, [end]: 0 } };
  if (scenario.budget !== undefined) {
    const { budget: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.costBudget !== undefined) {
    const { costBudget: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.tokenBudget !== undefined) {
    const { tokenBudget: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.resultsLag) yield { ...scenario, resultsLag: false };
  if (scenario.calm !== undefined) {
    const { calm: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.lag) yield { ...scenario, lag: false };
  if (scenario.lingers !== 'no') yield { ...scenario, lingers: 'no' };
  if (scenario.windowless !== undefined) {
    const { windowless: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.listing !== 'off') yield { ...scenario, listing: 'off' };
  if (scenario.buttonLifeMs !== undefined) {
    const { buttonLifeMs: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.taskList !== undefined) {
    const { taskList: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.modalLife !== undefined) {
    const { modalLife: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.capacity !== undefined) {
    const { capacity: _, ...rest } = scenario;
    yield rest;
  }
  for (const outcast of ['barred', 'hidden'] as const)
    if (scenario[outcast] !== undefined) {
      const { [outcast]: _, ...rest } = scenario;
      yield rest;
    }
  if (scenario.commitMs > 0) yield { ...scenario, commitMs: 0 };
  for (const rate of ['submitPerMinute', 'textPerMinute', 'tokensPerMinute'] as const)
    if (scenario.limits[rate] !== undefined) {
      const { [rate]: _, ...limits } = scenario.limits;
      yield { ...scenario, limits };
    }
  for (const [at, invocation] of scenario.invocations.entries()) {
    const { retryFailed, inDoubt, gapMs, redo, unkept, cells, ...rest } = invocation;
    const plain = { ...rest, ...(cells !== undefined && { cells }) };
    const but = (kept: Invocation): Scenario => ({
      ...scenario,
      invocations: scenario.invocations.with(at, kept),
    });
    if (redo !== undefined) yield but({ ...plain, retryFailed, inDoubt, gapMs, ...(unkept && { unkept }) });
    if (cells !== undefined) {
      const { cells: _, ...all } = invocation;
      yield but(all);
    }
    if (unkept) yield but({ ...plain, retryFailed, inDoubt, gapMs, ...(redo !== undefined && { redo }) });
    const change = (changes: Partial<Invocation>): Scenario => but({ ...invocation, ...changes });
    if (retryFailed) yield change({ retryFailed: false });
    if (inDoubt !== 'hold') yield change({ inDoubt: 'hold' });
    if (gapMs !== 0) yield change({ gapMs: 0 });
  }
}
