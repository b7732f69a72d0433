import type { StepKind } from '../../src/pipeline/pipeline.ts';
import type { TurnPlace } from '../rig/drive.ts';
import type {
  AskFault,
  FetchFault,
  MaskFault,
  SaveFault,
  Spell,
  SubmitFault,
} from '../rig/gateway/faults.ts';
import type { KindName } from './kinds.ts';

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
  /** The same by `--redo-jobs`: what an order has made already stays. */
  readonly byFile?: true;
  /** The jobs are those of the last such command, in the same words. */
  readonly sameOrder?: true;
  /** `--redo-cancel`: what is left of earlier orders is dropped. */
  readonly cancels?: true;
  /** The pipeline says `keep: false` of its grid this time. */
  readonly unkept?: true;
  /** The pipeline does not say `grid: split` this time. */
  readonly unsplit?: true;
}

/** Everything about one simulated history, as data: what a failing seed is reduced to. */
export interface Scenario {
  readonly seed: number;
  readonly cells: number;
  /** Of the grid; absent: the pipeline has none. */
  readonly path?: string;
  /** The grid, and what its path makes, are cut into frames. */
  readonly split?: true;
  /** Their seeds are read. */
  readonly seeds?: true;
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
  /** Of money, where each submission costs 1. */
  readonly costBudget?: number;
  readonly commitMs: number;
  /** The store answers a commit up to so much later, ms, and other things happen meanwhile. Absent: it is done when it returns. */
  readonly lateCommitMs?: number;
  /** Share of resolved cells behind which the others are left to the next tick. Absent: none. */
  readonly pauses?: number;
  /** So many requests go well at first, so that trouble is also met far down a path. */
  readonly calm?: number;
  readonly lag: boolean;
  /** Links, videos and prompts come later than SUCCESS; of what has more than an image, that is there first. */
  readonly resultsLag: boolean;
  /** A task goes on showing MODAL until its work is done, or for as long as a gateway takes to ask for it again. */
  readonly lingers: 'no' | 'work' | 'refresh';
  /** Share of clicks that open no modal, whatever they ask for. */
  readonly windowless?: number;
  /** Tasks are polled together: `odd` lists miss some and have two rows of others; or that is wanted of a gateway that cannot. */
  readonly listing: 'off' | 'on' | 'odd' | 'refused';
  /** What is wrong with the list that `--in-doubt find` reads; `newest`: it has the last few tasks only. Absent: nothing. */
  readonly taskList?: 'none' | 'misses' | 'lags' | 'untagged' | 'newest';
  /**
   * An open modal is answered in vain after so long: the answer is refused, the task has failed meanwhile, or fails as soon as
   * it goes on.
   */
  readonly modalLife?: { readonly ms: number; readonly how: 'refused' | 'failed' | 'begun in vain' };
  /** New tasks may get the id of one that was made a moment ago, and this of their records says whose they are. Absent: ids are unique. */
  readonly collides?: 'state' | 'nothing';
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
  /** A route answers 503 to these of all requests, counted from 1, and refuses the next one for itself. Absent: none. */
  readonly outage?: { readonly route: 'submit' | 'text'; readonly from: number; readonly to: number };
  /** All requests of the steps of this kind are answered so in the first so many starts. Absent: each kind is served. */
  readonly spell?: { readonly of: StepKind; readonly by: Spell; readonly starts: number };
  /** Some jobs the gateway never takes, whatever it takes of others: always with the same answer. */
  readonly barred?: 'code-3-account' | 'code-23' | '429';
  /** Some tasks it never reports again, once it has reported their end. */
  readonly hidden?: '429' | '500' | 'broken-json';
  readonly invocations: readonly Invocation[];
}

export const troubledEnds = ['transient', 'permanent', 'stuck', 'lost', 'linkless'] as const;
type TroubledEnd = (typeof troubledEnds)[number];

/** Every task succeeds. */
const calmEnds: Scenario['ends'] = { transient: 0, permanent: 0, stuck: 0, lost: 0, linkless: 0 };

/** The same history without any fault. */
export function calmed(scenario: Scenario): Scenario {
  const {
    barred: _,
    hidden: _hidden,
    modalLife: _life,
    collides: _ids,
    outage: _out,
    spell: _spell,
    ...rest
  } = scenario;
  return {
    ...rest,
    submit: {},
    mask: {},
    fetch: {},
    save: {},
    ask: {},
    lag: false,
    resultsLag: false,
    lingers: 'no',
    listing: scenario.listing === 'odd' ? 'on' : scenario.listing,
    ends: calmEnds,
  };
}

/** The same history where nothing limits what is spent. */
export function unlimited(scenario: Scenario): Scenario {
  const { budget: _, tokenBudget: _tokens, costBudget: _cost, ...rest } = scenario;
  return rest;
}

/**
 * In any time so long no more requests leave than the limit of a minute, ms. The pace is that of decisions: a request leaves when its commit is
 * durable, which waits for the commit before.
 */
export const rateWindowMs = ({ lateCommitMs = 0 }: Scenario): number => 60_000 - 2 * lateCommitMs;
