import type { Step } from '../../pipeline/pipeline.ts';
import type { TokenEstimate } from '../request/tokens.ts';
import { roundMoney } from './price.ts';
import type { PlanCounts, StepReport } from './report.ts';

type Counter = Exclude<keyof PlanCounts, 'why' | 'later' | 'cuts' | keyof Amounts>;
type Amounts = PlanCounts['later'];
export type SubmitReason = keyof PlanCounts['why'];

/** Cost and tokens of one submission, as far as known. */
export interface Cost {
  readonly price?: number | undefined;
  readonly tokens?: TokenEstimate;
}

const noTokens: TokenEstimate = { input: 0, output: 0 };

/** Sums of costs and tokens. */
export class Bill {
  #input = 0;
  #output = 0;
  #cost = 0;
  #unpriced = 0;

  add({ price, tokens = noTokens }: Cost, count: number): void {
    this.#input += tokens.input * count;
    this.#output += tokens.output * count;
    if (price === undefined) this.#unpriced += count;
    else this.#cost += price * count;
  }

  amounts(): Amounts {
    return {
      tokens: { input: Math.round(this.#input), output: Math.round(this.#output) },
      cost: roundMoney(this.#cost),
      unpriced: this.#unpriced,
    };
  }
}

/** Sums over the slots of one step. */
export class StepTotals {
  readonly #step: Step;
  readonly #counts: { [Name in Counter]: number } = {
    slots: 0,
    jobs: 0,
    shared: 0,
    submits: 0,
    held: 0,
    running: 0,
    unsaved: 0,
    done: 0,
    inDoubt: 0,
    failed: 0,
    skipped: 0,
    blocked: 0,
    accepted: 0,
    waiting: 0,
    invalid: 0,
  };
  readonly #why: { [Name in SubmitReason]: number } = { new: 0, changed: 0, retry: 0, anew: 0 };
  readonly #now = new Bill();
  readonly #later = new Bill();
  #cuts = 0;
  open = false;
  /** Whether slots wait for a list whose number of items is not known. */
  isBound = false;

  constructor(step: Step) {
    this.#step = step;
  }

  /** Counts slots without a job of their own. */
  slot(kind: 'shared' | 'skipped' | 'blocked' | 'accepted' | 'invalid', count = 1): void {
    this.#counts.slots += count;
    this.#counts[kind] += count;
  }

  /** Counts slots that wait for results, and the cost of each if it becomes a job. */
  wait(cost: Cost, count = 1): void {
    this.#counts.slots += count;
    this.#counts.waiting += count;
    this.#later.add(cost, count);
  }

  /** Counts jobs, each at its first slot. */
  job(kind: 'held' | 'running' | 'unsaved' | 'done' | 'inDoubt' | 'failed', count = 1): void {
    this.#counts.slots += count;
    this.#counts.jobs += count;
    this.#counts[kind] += count;
  }

  /** Counts jobs to submit, with the price of each and the estimated tokens of each text call. */
  submit(reason: SubmitReason, cost: Cost, count = 1): void {
    this.#counts.slots += count;
    this.#counts.jobs += count;
    this.#counts.submits += count;
    this.#why[reason] += count;
    this.#now.add(cost, count);
  }

  /** Counts jobs, already counted elsewhere, whose result will be cut into frames. */
  cut(count = 1): void {
    this.#cuts += count;
  }

  report(): StepReport {
    return {
      step: this.#step.name,
      kind: this.#step.kind,
      path: this.#step.path.length > 0,
      open: this.open,
      ...(this.isBound && { atMost: true as const }),
      ...this.#counts,
      why: { ...this.#why },
      ...(this.#step.split && { cuts: this.#cuts }),
      ...this.#now.amounts(),
      later: this.#later.amounts(),
    };
  }
}

/** Returns the sum over all steps. */
export function sumOf(reports: readonly StepReport[]): PlanCounts {
  const sum = (read: (counts: PlanCounts) => number): number =>
    reports.reduce((total, report) => total + read(report), 0);
  return {
    slots: sum(({ slots }) => slots),
    jobs: sum(({ jobs }) => jobs),
    shared: sum(({ shared }) => shared),
    submits: sum(({ submits }) => submits),
    why: {
      new: sum(({ why }) => why.new),
      changed: sum(({ why }) => why.changed),
      retry: sum(({ why }) => why.retry),
      anew: sum(({ why }) => why.anew),
    },
    held: sum(({ held }) => held),
    running: sum(({ running }) => running),
    unsaved: sum(({ unsaved }) => unsaved),
    done: sum(({ done }) => done),
    inDoubt: sum(({ inDoubt }) => inDoubt),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
    blocked: sum(({ blocked }) => blocked),
    accepted: sum(({ accepted }) => accepted),
    waiting: sum(({ waiting }) => waiting),
    invalid: sum(({ invalid }) => invalid),
    ...(reports.some(({ cuts }) => cuts !== undefined) && { cuts: sum(({ cuts = 0 }) => cuts) }),
    ...amountsOf(reports),
    later: amountsOf(reports.map(({ later }) => later)),
  };
}

function amountsOf(all: readonly Amounts[]): Amounts {
  const sum = (read: (amounts: Amounts) => number): number =>
    all.reduce((total, amounts) => total + read(amounts), 0);
  return {
    tokens: {
      input: sum(({ tokens }) => tokens.input),
      output: sum(({ tokens }) => tokens.output),
    },
    cost: roundMoney(sum(({ cost }) => cost)),
    unpriced: sum(({ unpriced }) => unpriced),
  };
}
