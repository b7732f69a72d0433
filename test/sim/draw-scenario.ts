import {
  askFaults,
  fetchFaults,
  maskFaults,
  type Spell,
  saveFaults,
  spells,
  submitFaults,
} from '../rig/gateway/faults.ts';
import { Chance } from './chance.ts';
import { isTask, type KindName, kindNames } from './kinds.ts';
import type { Invocation, Scenario } from './scenario.ts';

/** After which there are buttons, and images, for steps of every kind. */
const upscaled = ['U1', 'U1..U4', 'U1,U3 → Vary (Strong)'];

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
const maxFaults = 0.7;

/** Draws a whole history from one seed. */
export function drawScenario(seed: number): Scenario {
  const chance = new Chance(seed);
  // Most histories have few kinds of trouble, so that each kind is also seen alone; each kind has its turn.
  const faultShare = chance.pick([0.02, 0.1, 0.3], 'trouble');
  const rates = <K extends string>(kinds: readonly K[], what: string): Partial<Record<K, number>> => {
    const inTurn = kinds[seed % kinds.length];
    const drawn = kinds
      .filter((kind) => kind === inTurn || chance.happens(faultShare, what, kind))
      .map((kind) => [kind, chance.pick([0.05, 0.2, 0.5], what, kind, 'rate')] as const);
    // Something has to come out well, or nothing is seen of what follows.
    const sum = drawn.reduce((total, [, rate]) => total + rate, 0);
    const scale = Math.min(1, maxFaults / sum);
    return Object.fromEntries(
      drawn.map(([kind, rate]) => [kind, Number((rate * scale).toPrecision(2))]),
    ) as Partial<Record<K, number>>;
  };
  const share = (what: string): number =>
    chance.happens(0.25, what) ? chance.pick([0.1, 0.4], what, 'share') : 0;
  const count = chance.whole(1, 6, 'invocations');
  const isLate = chance.happens(0.35, 'late commits');
  const invocations = Array.from({ length: count }, (_, n) => drawInvocation(chance, n, isLate));
  // What nobody wanted when it had no link stays without a file when somebody does, which is no trouble of the service.
  const isUnkept = invocations.some(({ unkept }) => unkept === true);
  const hasTexts = chance.happens(0.6, 'texts');
  const inTurn =
    neededFor[fetchFaults[seed % fetchFaults.length] ?? ''] ?? kindNames[seed % kindNames.length];
  const isOfTask = inTurn !== undefined && isTask(inTurn);
  const hasGrid = isOfTask || !(hasTexts && chance.happens(0.4, 'no grid'));
  const collides = chance.happens(0.15, 'collides');
  return {
    seed,
    cells: chance.whole(1, isOfTask ? 6 : 12, 'cells'),
    ...(hasGrid && chance.happens(0.4, 'split') && { split: true as const }),
    ...(hasGrid && chance.happens(0.4, 'seeds') && { seeds: true as const }),
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
    commitMs: isLate ? 0 : chance.pick([0, 1, 500], 'commit'),
    ...(isLate && { lateCommitMs: chance.pick([20, 500, 5000], 'late commits', 'of') }),
    ...(chance.happens(0.4, 'pauses') && { pauses: chance.pick([0.5, 1], 'pauses', 'share') }),
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
    ...(collides && {
      collides: chance.pick(['state', 'nothing'] as const, 'collides', 'and tells'),
    }),
    ...(chance.happens(0.5, 'task list') && {
      taskList: chance.pick(['none', 'misses', 'lags', 'untagged', 'newest'] as const, 'task list', 'of'),
    }),
    ...(chance.happens(isOfTask ? 0.4 : 0.1, 'modal life') && {
      modalLife: {
        ms: chance.pick([500, 5000, 60_000], 'modal life', 'of'),
        how: chance.pick(['refused', 'failed', 'begun in vain'] as const, 'modal life', 'how'),
      },
    }),
    // A task that exists was made before the burst in which ids repeat.
    submit: rates(
      submitFaults.filter((fault) => !collides || !fault.startsWith('code-21-exists')),
      'submit',
    ),
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
    ...(chance.happens(0.2, 'outage') && {
      outage: {
        route: chance.pick(['submit', 'text'] as const, 'outage', 'of'),
        from: 20,
        to: chance.pick([60, 200, 600], 'outage', 'to'),
      },
    }),
    ...(chance.happens(0.2, 'spell') && {
      spell: {
        of: chance.pick(['imagine', 'click', 'generate', 'chat'] as const, 'spell', 'of'),
        by: chance.pick(Object.keys(spells) as Spell[], 'spell', 'by'),
        starts: chance.whole(1, count, 'spell', 'starts'),
      },
    }),
    invocations,
  };
}

/** @param isLate the store answers commits later */
function drawInvocation(chance: Chance, n: number, isLate: boolean): Invocation {
  const end = chance.pick(['death', 'death', 'disk', 'drain', 'none'] as const, n, 'end');
  const asks = chance.happens(0.2, n, 'redo') || chance.happens(0.3, n, 'same order');
  // The number leaves the few seeds as they are that together meet every kind of fault.
  const isOfCancels = chance.happens(0.5, 'redo-cancel', 'drawn', 14);
  const cancels = n > 0 && !asks && isOfCancels && chance.happens(0.06, n, 'redo-cancel');
  return {
    gapMs: chance.pick([0, 1000, 60_000, 90_000_000, -3_600_000], n, 'gap'),
    retryFailed: chance.happens(0.2, n, 'retry-failed'),
    inDoubt: chance.happens(0.2, n, 'in-doubt') ? 'retry' : chance.happens(0.25, n, 'find') ? 'find' : 'hold',
    ...(chance.happens(0.2, n, 'fewer cells') && { cells: chance.whole(0, 6, n, 'fewer cells', 'of') }),
    ...(chance.happens(0.2, n, 'redo') && {
      redo: chance.pick([0.3, 1], n, 'redo', 'share'),
      ...(chance.happens(0.4, n, 'redo', 'file') && { byFile: true as const }),
    }),
    ...(chance.happens(0.3, n, 'same order') && { sameOrder: true as const }),
    ...(cancels && { cancels: true as const }),
    ...(chance.happens(0.3, n, 'unsplit') && { unsplit: true as const }),
    ...(chance.happens(0.2, n, 'unkept') && { unkept: true as const }),
    ...(end === 'death' && {
      death: {
        turn: chance.whole(1, chance.pick([5, 40, 200], n, 'about'), n, 'turn'),
        place:
          isLate && chance.happens(0.4, n, 'within')
            ? 'within-commit'
            : chance.pick(
                [
                  'before-commit',
                  'after-commit',
                  'after-count',
                  'after-first-effect',
                  'after-effects',
                ] as const,
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
