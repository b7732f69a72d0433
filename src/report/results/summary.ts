import { KeySet } from '../../manifest/key-set.ts';
import { artifactsOf } from '../../plan/job.ts';
import type { Plan } from '../../plan/plan.ts';
import { messageText } from '../../results/messages.ts';
import { type ReasonFound, Reasons } from '../../results/row-ledger.ts';
import { SameFiles } from '../../results/same-files.ts';
import { readSums } from '../../results/sums.ts';
import type { StateReader } from '../../state/reader.ts';
import { readHowFar } from '../facts/planned.ts';
import { readRunFacts } from '../facts/run.ts';
import { sandboxId } from '../facts/services.ts';
import { sameFilesWords } from '../text/amounts.ts';
import { type Advisor, groupAdvice } from './advice.ts';
import type { CellResult } from './cell-results.ts';
import { ChartCounter } from './counts/charts.ts';
import {
  countedValues,
  type FailureGroup,
  listedValues,
  type PageStatus,
  type PageStep,
  type PageSummary,
  type PageVariable,
} from './wire.ts';

/** Largest number of branches listed for a step, because the service decides how many a wildcard matches. */
const maxBranches = 1000;

/** Facts of a summary that do not come from results. */
export interface SummaryFacts {
  /** Name and version of the program. */
  readonly madeBy: string;
  /** Time of the summary, Unix ms. */
  readonly at: number;
  /** Whether a run is active. */
  readonly live: boolean;
}

type SumsReader = Pick<StateReader, 'file' | 'fact' | 'totals' | 'unfinished' | 'withStatus'>;

/** Sums over the whole directory for a summary. */
export interface PageSums extends Pick<PageSummary, 'planned'> {
  readonly totals: Pick<PageSummary['totals'], 'submissions' | 'cost' | 'possibleCost' | 'tokens'>;
}

/** Reads the sums of a directory. @throws StateError */
export async function readPageSums(
  state: SumsReader,
  { at, live }: Pick<SummaryFacts, 'at' | 'live'>,
): Promise<PageSums> {
  const sums = await readSums(state, live);
  const { attempts, cost, possibleCost, tokens } = sums;
  const planned = await readHowFar(state, await readRunFacts(state), sums, live ? at : undefined);
  return {
    ...(planned === undefined ? {} : { planned }),
    totals: {
      submissions: attempts,
      ...(cost === 0 ? {} : { cost }),
      ...(possibleCost === 0 ? {} : { possibleCost }),
      tokens,
    },
  };
}

/** The part of a result that is counted. */
export interface CountedResult {
  readonly row: Pick<CellResult['row'], 'slot' | 'firstOfSlot'>;
  readonly result: Pick<CellResult['result'], 'at' | 'status' | 'step' | 'branch' | 'vars'>;
  readonly detail: Pick<CellResult['detail'], 'model'>;
}

/**
 * Counts results for the summary of the page. It uses 10 to 22 bytes for each job, and some megabytes for each variable with very many
 * values.
 */
export class SummaryCounter {
  readonly #plan: Plan;
  readonly #advisor: Advisor;
  readonly #steps = new Map<string, { readonly branches: Map<string, number>; results: number }>();
  readonly #variables: readonly VariableCounter[];
  readonly #reasons = new Reasons();
  readonly #charts = new ChartCounter();
  readonly #statuses = new Map<PageStatus, number>();
  readonly #jobs = new KeySet();
  readonly #sameFiles = new SameFiles();
  #results = 0;
  #bytes = 0;

  constructor(plan: Plan, advisor: Advisor) {
    this.#plan = plan;
    this.#advisor = advisor;
    this.#variables = plan.matrix.variables.map((name) => new VariableCounter(name));
  }

  get results(): number {
    return this.#results;
  }

  /** Adds a result. Results come in order, each once. */
  add({ row, result, detail }: CountedResult): void {
    const { slot, firstOfSlot } = row;
    this.#results += 1;
    this.#statuses.set(result.status, (this.#statuses.get(result.status) ?? 0) + 1);
    this.#count(result, slot.place ?? 0);
    for (const [index, counter] of this.#variables.entries()) counter.add(result.vars[index] ?? '');
    if (!firstOfSlot) return;
    this.#reasons.add(slot, result.at);
    if (slot.record === undefined || !this.#jobs.add(slot.record.key)) return;
    for (const { bytes } of artifactsOf(slot.record)) this.#bytes += bytes;
    this.#sameFiles.add(slot.record);
    this.#charts.add(slot, detail.model);
  }

  /** @param place of the result's slot in the plan */
  #count({ step, branch }: CountedResult['result'], place: number): void {
    const found = this.#steps.get(step) ?? { branches: new Map<string, number>(), results: 0 };
    this.#steps.set(step, found);
    found.results += 1;
    if (!found.branches.has(branch) && found.branches.size < maxBranches) found.branches.set(branch, place);
  }

  #stepsFound(): readonly PageStep[] {
    return [...this.#plan.slotGraph.steps].map(([name, { step }]) => {
      const { branches = [], results = 0 } = this.#steps.get(name) ?? {};
      const inOrder = [...branches].sort(([, one], [, other]) => one - other);
      return { name, kind: step.kind, branches: inOrder.map(([branch]) => branch), results };
    });
  }

  async summary(state: SumsReader, { madeBy, at, live }: SummaryFacts): Promise<PageSummary> {
    const { pipeline, serviceId } = this.#plan;
    const { mask } = this.#advisor;
    const { ask: _ask, ...budget } = pipeline.budget;
    const same = this.#sameFiles.result();
    const { totals, ...sums } = await readPageSums(state, { at, live });
    return {
      version: 1,
      name: pipeline.name,
      ...(pipeline.description === undefined ? {} : { description: mask(pipeline.description) }),
      sandbox: serviceId === sandboxId,
      madeBy,
      at,
      live,
      ...sums,
      results: this.#results,
      indexed: this.#results,
      steps: this.#stepsFound(),
      statuses: Object.fromEntries(this.#statuses),
      variables: this.#variables.map((counter) => counter.variable()),
      totals: {
        ...totals,
        ...(Object.keys(budget).length === 0 ? {} : { budget }),
        bytes: this.#bytes,
        ...(same === undefined ? {} : { sameFiles: `${sameFilesWords(same)}.` }),
      },
      failures: this.#reasons.found().map((reason) => failureOf(reason, this.#advisor)),
      charts: this.#charts.charts(),
    };
  }
}

const failureOf = (
  { first, code, count, unasked, accepted, examples, steps, ...message }: ReasonFound,
  advisor: Advisor,
): FailureGroup => ({
  code: advisor.mask(code),
  ...(accepted && { accepted }),
  message: advisor.mask(messageText(message)),
  ...groupAdvice(first, unasked !== count, advisor),
  results: count,
  examples,
  steps,
});

/** Counts the values of one variable in bounded memory. */
export class VariableCounter {
  readonly #name: string;
  readonly #listed = new Map<string, number>();
  readonly #others = new KeySet();

  constructor(name: string) {
    this.#name = name;
  }

  add(value: string): void {
    const before = this.#listed.get(value);
    if (before !== undefined || this.#listed.size < listedValues) this.#listed.set(value, (before ?? 0) + 1);
    else if (this.#others.size < countedValues - listedValues) this.#others.add(value);
  }

  variable(): PageVariable {
    return {
      name: this.#name,
      distinct: this.#listed.size + this.#others.size,
      values: [...this.#listed],
    };
  }
}
