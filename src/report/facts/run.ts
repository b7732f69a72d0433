import type { AxisSetting } from '../../pipeline/pipeline.ts';
import { aFlag, aMapping, aNumber, aText, listOf, mapOf } from '../../pipeline/values/shape.ts';
import { isSelection, type Selection } from '../../plan/cell.ts';
import type { ManifestTotals, Reason } from '../../results/row-ledger.ts';
import type { SameFilesFound } from '../../results/same-files.ts';
import type { SpentAtStart } from '../../results/sums.ts';
import { isRunEnd, type RunEnd } from '../../run/events.ts';
import { pipelineFacts } from '../../state/binding.ts';
import type { StateReader } from '../../state/reader.ts';
import type { FactKeeper } from '../../state/store.ts';
import { isMoment, jsonFact } from './json.ts';

/** Facts about the last run of a directory, stored in its state for commands that read only the directory. */
export interface RunFacts {
  /** Real path of the folder that must contain the pipeline's files. */
  readonly filesRoot: string;
  readonly tables: readonly InputTable[];
  readonly serviceId: string;
  /** Origin of the service's address; absent in a rehearsal. */
  readonly origin?: string;
  /** Axes of the matrix that every run of the directory replaces (`--set`); absent if there are none. */
  readonly set?: readonly AxisSetting[];
  /** Selection by the flags of the last run. */
  readonly selection: Selection;
  /** Start of the run, Unix ms. */
  readonly startedAt: number;
  /** Totals of the directory at the start of the run, from which its rate and spending are computed. */
  readonly atStart: { readonly settled: number; readonly attempts: number } & SpentAtStart;
  /** Outcome of the run; absent during the run and after a crash. */
  readonly outcome?: OutcomeFacts;
}

export interface OutcomeFacts {
  readonly finishedAt: number;
  readonly end: RunEnd;
  readonly exitCode: number;
  /** Slots of the selection by status; absent if the run ended before they were counted. */
  readonly slots?: ManifestTotals['slots'];
  /** Number of tasks that timed out at the gateway and were submitted again; absent if there are none. */
  readonly timedOutAgain?: number;
  /** Files of different jobs with the same bytes; absent if there are none. */
  readonly sameFiles?: SameFilesFound;
  /** Pending slots for groups of cells that wait for results which the flags left out, by step; absent if there are none. */
  readonly leftOut?: ManifestTotals['pendingGroups'];
  /** Reasons of slots that failed before their job existed, with their number. */
  readonly unasked?: readonly Omit<Reason, 'status' | 'unasked'>[];
}

/** Returns the outcome of a run for its facts. */
export function outcomeFacts(outcome: {
  readonly finishedAt: number;
  readonly end: RunEnd;
  readonly exitCode: number;
  readonly timedOutAgain?: number;
  readonly leftOut?: OutcomeFacts['leftOut'];
  readonly totals?: ManifestTotals;
}): OutcomeFacts {
  const { totals, timedOutAgain, leftOut } = outcome;
  const { finishedAt, end, exitCode } = outcome;
  const begun = { finishedAt, end, exitCode, ...(timedOutAgain ? { timedOutAgain } : {}) };
  if (totals === undefined) return begun;
  const unasked = totals.reasons.flatMap(({ status: _status, unasked: count = 0, ...reason }) =>
    count === 0 ? [] : [{ ...reason, count }],
  );
  const { slots, sameFiles } = totals;
  return {
    ...begun,
    slots,
    unasked,
    ...(sameFiles === undefined ? {} : { sameFiles }),
    ...(leftOut === undefined ? {} : { leftOut }),
  };
}

const factName = 'run.last';

/** Stores the facts of a run. @throws StateError */
export async function writeRunFacts(state: Pick<FactKeeper, 'setFact'>, facts: RunFacts): Promise<void> {
  await state.setFact(factName, JSON.stringify(facts));
}

/** Reads the facts of the last run; undefined if nothing has run here. @throws StateError `state.corrupt` */
export const readRunFacts = async (
  state: Pick<StateReader, 'file' | 'fact'>,
): Promise<RunFacts | undefined> => await jsonFact(state, factName, isRunFacts);

/** Returns the facts of a state's last run, and the text and the absolute path of its pipeline; undefined: no run got as far. */
export async function lastRun(
  state: StateReader,
): Promise<{ readonly facts: RunFacts; readonly text: string; readonly path: string } | undefined> {
  const facts = await readRunFacts(state);
  const text = await state.fact(pipelineFacts.text);
  const path = await state.fact(pipelineFacts.path);
  return facts === undefined || text === undefined || path === undefined ? undefined : { facts, text, path };
}

const isSetting = aMapping({ axis: aText, value: aText });

const isTable = aMapping(
  {
    file: aText,
    sha256: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  },
  { bytes: aNumber, copied: aFlag },
);

const sameFiles = aMapping({
  jobs: aNumber,
  contents: aNumber,
  example: aMapping({ jobs: aNumber, file: aText, first: aText, second: aText }),
});

const isOutcome = aMapping(
  { finishedAt: isMoment, end: isRunEnd, exitCode: aNumber },
  {
    timedOutAgain: aNumber,
    slots: mapOf(aNumber),
    sameFiles,
    leftOut: mapOf(aNumber),
    unasked: listOf(
      aMapping({ code: aText, count: aNumber, message: aText }, { otherMessages: aNumber, accepted: aFlag }),
    ),
  },
);

const isRunFacts = aMapping(
  {
    filesRoot: aText,
    tables: listOf(isTable),
    serviceId: aText,
    selection: isSelection,
    startedAt: isMoment,
    atStart: aMapping({ settled: aNumber, attempts: aNumber }, { cost: aNumber, possibleCost: aNumber }),
  },
  { origin: aText, set: listOf(isSetting), outcome: isOutcome },
) as (value: unknown) => value is RunFacts;

/** A table that a run was planned from. */
export interface InputTable {
  /** Absolute path of the table. For a table of files the name of its listing. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Whether a copy lies in `inputs/` of the run directory; large tables have no copy. */
  readonly copied: boolean;
}
