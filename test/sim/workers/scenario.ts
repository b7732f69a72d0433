import { Chance } from '../chance.ts';

/** Jobs that are done are to be made anew: of all of them this share; or the same as in the last order, in the same words. */
export type Order =
  | { readonly share: number; readonly again: boolean }
  | 'same'
  /** What is left of earlier orders is dropped. */
  | 'cancel';

/** An older copy of the state comes back. */
export interface Restore {
  /** It is made so long after the beginning of a run, ms. */
  readonly copiedMs: number;
  /** It comes back so long after the beginning of that run, ms, while workers are at work; absent: once that is over. */
  readonly atMs?: number;
  /** What the user says of a state that is refused: the newest one is put back; or one of the flags. */
  readonly way: 'put back' | 'find' | 'accept';
}

/** One start of the command. */
export interface WorkersRun {
  /** It ends after so long, ms, where it is not done by then: all of its workers are killed. */
  readonly endsAfterMs?: number;
  /** Tasks of jobs in doubt are searched for first. */
  readonly finds: boolean;
  readonly inDoubt: 'hold' | 'retry';
  readonly order?: Order;
  readonly restore?: Restore;
}

/** One history of several workers: everything that is to go wrong, drawn from one seed. */
export interface WorkersScenario {
  readonly seed: number;
  readonly workers: number;
  /** Jobs that several cells ask for: so many cells have the same grid. */
  readonly sharers: number;
  readonly grids: number;
  readonly cellsOfSlice: number;
  readonly tasks: number;
  readonly hasTexts: boolean;
  readonly hasClicks: boolean;
  /** Steps that gather and pick over axes, the first of them over cells far apart. */
  readonly hasGroups: boolean;
  /** Shares of commits: whose answer is lost; that arrive only after their repetition; that are not executed. */
  readonly lostAnswers: number;
  readonly lateCommits: number;
  readonly failedCommits: number;
  /** Shares of moments: at which a worker is killed, or stopped for longer than its lease. */
  readonly kills: number;
  readonly stops: number;
  /** Share of moments at which a worker no longer reaches the state, for up to six leases; it goes on hearing the service. */
  readonly cuts: number;
  /** How far the clocks of the workers are apart at most, ms. */
  readonly skewMs: number;
  /** Share of the takes of a slice that somebody holds. */
  readonly doubled: number;
  /** Share of slices that the queue forgets for a while. */
  readonly forgotten: number;
  /** Share of slices of which a worker lacks a file, until somebody has supplied it. */
  readonly lacking: number;
  /** Share of submissions that the service does not accept, and of tasks that fail in a way that may pass. */
  readonly unaccepted: number;
  readonly failing: number;
  readonly leaseMs: number;
  /** The workers share the room for tasks. */
  readonly sharesRooms: boolean;
  /** Buttons that open a dialog. */
  readonly hasModals: boolean;
  /** Share of submissions whose answer leaves open whether there is a task, and there is one or not. */
  readonly unclear: number;
  /** Share of tasks that get the id of one that was made a moment ago, and nothing says whose it is. */
  readonly collides: number;
  /** Share of resolved cells behind which the others are left to the next tick. */
  readonly pauses: number;
  /** Slices of which something was heard late are fed again. */
  readonly feedsDoubts: boolean;
  /** The last one goes on until all is done. */
  readonly runs: readonly WorkersRun[];
}

const plainRun: WorkersRun = { finds: false, inDoubt: 'hold' };

export function drawWorkers(seed: number, workers?: number): WorkersScenario {
  const chance = new Chance(seed);
  const share = (what: string, rates: readonly number[]): number =>
    chance.happens(0.6, what) ? chance.pick(rates, what, 'rate') : 0;
  return {
    seed,
    workers: workers ?? chance.whole(2, 4, 'workers'),
    sharers: chance.whole(1, 4, 'sharers'),
    grids: chance.whole(2, 6, 'grids'),
    cellsOfSlice: chance.whole(1, 4, 'cells of a slice'),
    tasks: chance.pick([1, 2, 6], 'tasks'),
    hasTexts: chance.happens(0.5, 'texts'),
    hasClicks: chance.happens(0.7, 'clicks'),
    hasGroups: chance.happens(0.5, 'groups'),
    lostAnswers: share('lost answers', [0.03, 0.15]),
    lateCommits: share('late commits', [0.03, 0.15]),
    failedCommits: share('failed commits', [0.03, 0.1]),
    kills: share('kills', [0.01, 0.04]),
    stops: share('stops', [0.01, 0.05]),
    cuts: 0,
    skewMs: chance.pick([0, 1000, 600_000], 'skew'),
    doubled: share('doubled', [0.1, 0.4]),
    forgotten: share('forgotten', [0.1, 0.3]),
    lacking: share('lacking', [0.2, 0.6]),
    unaccepted: share('unaccepted', [0.05, 0.2]),
    failing: share('failing', [0.1, 0.3]),
    leaseMs: chance.pick([5000, 15_000], 'lease'),
    pauses: share('pauses', [0.5, 1]),
    sharesRooms: false,
    hasModals: false,
    unclear: 0,
    collides: 0,
    feedsDoubts: false,
    runs: [plainRun],
  };
}

/** The same with more trouble, and of more kinds. */
export function drawHard(seed: number, workers?: number): WorkersScenario {
  const chance = new Chance(seed);
  const share = (what: string, rates: readonly number[]): number =>
    chance.happens(0.6, what) ? chance.pick(rates, what, 'hard') : 0;
  return {
    ...drawWorkers(seed, workers),
    kills: share('kills', [0.01, 0.04, 0.1]),
    stops: share('stops', [0.01, 0.05, 0.15]),
    doubled: share('doubled', [0.1, 0.4, 0.8]),
    lostAnswers: share('lost answers', [0.03, 0.15, 0.3]),
    lateCommits: share('late commits', [0.03, 0.15, 0.3]),
    // A search by tag tolerates clocks that are five minutes apart.
    skewMs: chance.pick([0, 1000, 120_000], 'skew', 'hard'),
    sharesRooms: chance.happens(0.5, 'rooms'),
    hasModals: chance.happens(0.5, 'modals'),
    // Where an answer is lost, nobody can know that another job got the same id.
    ...(chance.happens(0.2, 'collides')
      ? { collides: 0.4, kills: 0, unclear: 0 }
      : { unclear: share('unclear', [0.1, 0.3]) }),
    feedsDoubts: true,
    ...(!chance.happens(0.2, 'collides') &&
      chance.happens(0.7, 'again') && {
        runs: [
          {
            ...plainRun,
            ...(chance.happens(0.5, 'again', 'early') && {
              endsAfterMs: chance.whole(1000, 200_000, 'again', 'after'),
            }),
          },
          {
            finds: chance.happens(0.5, 'again', 'finds'),
            inDoubt: chance.pick(['hold', 'retry', 'retry'] as const, 'again', 'in-doubt'),
          },
        ],
      }),
  };
}

/** The same, with texts and cut cables. */
export function drawCuts(seed: number, workers?: number): WorkersScenario {
  const chance = new Chance(seed);
  const { runs, ...hard } = drawHard(seed, workers);
  return {
    ...hard,
    // Who retries a doubt pays again, and nothing of it is undone by what is heard later.
    runs: runs.map((run) => ({ ...run, inDoubt: 'hold' })),
    hasTexts: true,
    cuts: chance.pick([0.02, 0.05, 0.1], 'cuts'),
    ...(chance.happens(0.7, 'nobody is killed') && { kills: 0 }),
  };
}

/** The same, with jobs that are to be made anew: over several runs, each of which may end early. */
export function drawOrders(seed: number, workers?: number): WorkersScenario {
  const chance = new Chance(seed);
  const draw = chance.happens(0.5, 'orders', 'cuts') ? drawCuts : drawHard;
  const last = chance.whole(1, 4, 'orders', 'runs');
  const orders: readonly WorkersRun[] = Array.from({ length: last }, (_, n) => ({
    ...plainRun,
    ...(n < last - 1 &&
      chance.happens(0.7, 'orders', 'early', n) && {
        endsAfterMs: chance.whole(1000, 120_000, 'orders', 'after', n),
      }),
    ...(n === 0 || chance.happens(0.7, 'orders', 'given', n)
      ? {
          order:
            n > 0 && chance.happens(0.4, 'orders', 'special', n)
              ? chance.pick(['same', 'cancel'] as const, 'orders', 'what', n)
              : {
                  share: chance.pick([0.2, 0.6, 1], 'orders', 'share', n),
                  again: chance.happens(0.5, 'orders', 'again', n),
                },
        }
      : {}),
  }));
  return {
    ...draw(seed, workers),
    // What gets the id of another, or is paid again on the user's word, is another matter.
    collides: 0,
    unclear: 0,
    runs: [
      {
        ...plainRun,
        ...(chance.happens(0.3, 'orders', 'early') && {
          endsAfterMs: chance.whole(20_000, 200_000, 'orders', 'after'),
        }),
      },
      ...orders,
    ],
  };
}

/** The same, where older copies of the state come back: between runs, or while workers are at work. */
export function drawRestores(seed: number, workers?: number): WorkersScenario {
  const chance = new Chance(seed);
  const draw = chance.happens(0.5, 'restores', 'cuts') ? drawCuts : drawHard;
  const restored: readonly WorkersRun[] = Array.from({ length: chance.whole(1, 3, 'restores') }, (_, n) => {
    const copiedMs = chance.whole(1000, 60_000, 'copied', n);
    const atMs = copiedMs + chance.whole(0, 60_000, 'comes back', n);
    return {
      ...plainRun,
      endsAfterMs: atMs + chance.whole(1, 60_000, 'restored', 'after', n),
      restore: {
        copiedMs,
        ...(chance.happens(0.6, 'under work', n) && { atMs }),
        way: chance.pick(['put back', 'find', 'accept'] as const, 'way', n),
      },
    };
  });
  // Doubts and dialogs of a time that is forgotten are another matter.
  return {
    ...draw(seed, workers),
    collides: 0,
    unclear: 0,
    hasModals: false,
    runs: [...restored, plainRun],
  };
}

/** Cells are ordered so that equal jobs are asked for by several slices. */
export const pipelineOf = ({
  sharers,
  grids,
  hasTexts,
  hasClicks,
  hasGroups,
  hasModals,
}: WorkersScenario): string => `name: sim
matrix: { turn: { from: 1, to: ${sharers} }, n: { from: 1, to: ${grids} } }
steps:
  grid:
    imagine: "picture {{ n }}"
${hasClicks ? '    path: U1\n' : ''}${
  hasTexts
    ? `  caption:
    from: grid
    generate: { model: text-pro, prompt: "Caption {{ n }}, {{ turn }}.", images: [parent] }
  note:
    generate: { model: text-pro, prompt: "Tell of {{ n }}." }
`
    : ''
}  other:
    from: grid
    click: V2
  own:
    imagine: "picture {{ n }} of {{ turn }}"
${
  hasClicks && hasModals
    ? `  wide:
    from: grid/U1
    click: Custom Zoom
    prompt: "picture {{ n }} --zoom 1.5"
`
    : ''
}${
  hasGroups
    ? `  poster:
    gather: { step: own, over: [turn] }
    imagine: "poster of {{ n }}: {{ gathered | map: 'turn' | join }}"
  row:
    gather: { step: own, over: [n] }
    imagine: "row {{ turn }}"
  all:
    gather: { step: poster, over: [n] }
    imagine: "{{ gathered | map: 'n' | join }}"
${
  hasTexts
    ? `  told:
    gather: { step: caption, over: [turn] }
    generate: { model: text-pro, prompt: "{{ n }}: {% for one in gathered %}{{ one.text }} {% endfor %}" }
  best:
    best: { from: grid, by: "{{ steps.caption.text | size }}", over: [n] }
  again:
    from: best
    click: V3
  praise:
    from: best
    generate: { model: text-pro, prompt: "Praise {{ steps.caption.text }} of {{ n }} and {{ turn }}." }
`
    : ''
}`
    : ''
}`;
