import type { AxisSetting } from '../../pipeline/pipeline.ts';
import { aFlag, aMapping, aNumber, aText, listOf, mapOf } from '../../pipeline/values/shape.ts';
import { isSelection, type Selection } from '../../plan/cell.ts';
import type { CommonMessage } from '../../results/messages.ts';
import type { ManifestTotals } from '../../results/row-ledger.ts';
import type { SameFilesFound } from '../../results/same-files.ts';
import type { SpentAtStart } from '../../results/sums.ts';
import { isRunEnd, type RunEnd } from '../../run/events.ts';
import type { StateReader } from '../../state/reader.ts';
import type { FactKeeper } from '../../state/store.ts';
import { isMoment, jsonFact } from './json.ts';

/** What a run leaves in the state for the commands that have only the directory. */
export interface RunFacts {
  /** Real path of the folder that the pipeline's files must lie in. */
  readonly filesRoot: string;
  readonly tables: readonly InputTable[];
  readonly serviceId: string;
  /** Where the service was; absent in a rehearsal. */
  readonly origin?: string;
  /** Axes of the matrix that every run of the directory replaces (`--set`); absent: none. */
  readonly set?: readonly AxisSetting[];
  /** What the flags of the last run chose. */
  readonly selection: Selection;
  /** Unix ms. */
  readonly startedAt: number;
  /** The directory's totals when the run began: what a rate, and what the run has spent, is reckoned from. */
  readonly atStart: { readonly settled: number; readonly attempts: number } & SpentAtStart;
  /** Absent: it is on, or it was killed. */
  readonly outcome?: OutcomeFacts;
}

export interface OutcomeFacts {
  readonly finishedAt: number;
  readonly end: RunEnd;
  readonly exitCode: number;
  /** The slots that the flags chose, by status; absent when the run left before they could be counted. */
  readonly slots?: ManifestTotals['slots'];
  /** Tasks that timed out at the gateway and were submitted again; absent: none. */
  readonly timedOutAgain?: number;
  /** Different jobs whose files have the same bytes; absent: none. */
  readonly sameFiles?: SameFilesFound;
  /** Why slots failed before anything was asked: they have no job, and no record. */
  readonly unasked?: readonly ({ readonly code: string; readonly count: number } & CommonMessage)[];
}

/** The part of a run's outcome that only its end knows. */
export function outcomeFacts(outcome: {
  readonly finishedAt: number;
  readonly end: RunEnd;
  readonly exitCode: number;
  readonly timedOutAgain?: number;
  readonly totals?: ManifestTotals;
}): OutcomeFacts {
  const { totals, timedOutAgain } = outcome;
  const { finishedAt, end, exitCode } = outcome;
  const begun = { finishedAt, end, exitCode, ...(timedOutAgain ? { timedOutAgain } : {}) };
  if (totals === undefined) return begun;
  const unasked = totals.reasons.flatMap(({ code, message, otherMessages, unasked: count = 0 }) =>
    count === 0 ? [] : [{ code, count, message, ...(otherMessages === undefined ? {} : { otherMessages }) }],
  );
  const { slots, sameFiles } = totals;
  return { ...begun, slots, unasked, ...(sameFiles === undefined ? {} : { sameFiles }) };
}

const factName = 'run.last';

/** @throws StateError */
export async function writeRunFacts(state: Pick<FactKeeper, 'setFact'>, facts: RunFacts): Promise<void> {
  await state.setFact(factName, JSON.stringify(facts));
}

/** Undefined: nothing has ever run here. @throws StateError `state.corrupt` */
export const readRunFacts = async (
  state: Pick<StateReader, 'file' | 'fact'>,
): Promise<RunFacts | undefined> => await jsonFact(state, factName, isRunFacts);

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
    unasked: listOf(aMapping({ code: aText, count: aNumber, message: aText }, { otherMessages: aNumber })),
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
  /** Absolute; of files as rows, the name of the listing. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  /** A copy lies in the run directory's `inputs/`; larger tables have none. */
  readonly copied: boolean;
}
