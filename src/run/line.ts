import { isTextRequest } from '../plan/job-request.ts';
import { Heap } from './heap.ts';
import type { Job, Want } from './job.ts';
import { hasItsTurn } from './reading.ts';
import { timesInVain } from './vain.ts';

interface Place {
  readonly key: string;
  /** The very want it stands in line for: when the job wants something else by now, the place is void. */
  readonly want: Want;
  /** The least goes first; of equals, by the next number. */
  readonly rank: readonly [tries: number, height: number, cell: number, turn: number];
}

/**
 * Jobs that stand in line for the same thing. Deeper jobs go before shallower ones, then earlier cells before later
 * ones, then first come, first served: results arrive early and buttons do not age (DESIGN.md section 4). What has
 * failed goes behind what has not been tried as often, so that an outage does not use up all tries of one job, and what was put
 * off behind what was not as often, so that one job that is always put off keeps nobody waiting. An open modal
 * goes before all: its task takes room on the service and does nothing (service.md 3, rule 3).
 */
export class Line {
  readonly #heap = new Heap<Place>((a, b) => compare(a, b) < 0);
  readonly #jobs: ReadonlyMap<string, Job>;
  readonly #fair: boolean;
  #turn = 0;

  /** @param fair first come, first served only: for what costs nothing and must not starve */
  constructor(jobs: ReadonlyMap<string, Job>, fair = false) {
    this.#jobs = jobs;
    this.#fair = fair;
  }

  /** An upper bound of who stands here; void places leave when they come to the front. */
  get size(): number {
    return this.#heap.size;
  }

  join(job: Job): void {
    this.#turn += 1;
    const { key, tries, origin } = job.record;
    const putOff = timesInVain(job, isTextRequest(job.record.request) ? 'text' : 'submit');
    const before =
      job.want.kind === 'modal' ? Math.min(1, putOff) - 1 : hasItsTurn(job) ? -0.5 : tries + putOff;
    const rank = this.#fair
      ? ([0, 0, 0, this.#turn] as const)
      : ([before, -job.depth, origin.cell, this.#turn] as const);
    this.#heap.push({ key, want: job.want, rank });
  }

  /** The job at the front, still in line. */
  front(): Job | undefined {
    for (;;) {
      const place = this.#heap.peek();
      if (place === undefined) return undefined;
      const job = this.#jobs.get(place.key);
      if (job !== undefined && job.want === place.want) return job;
      this.#heap.pop();
    }
  }

  leave(): void {
    this.#heap.pop();
  }
}

function compare({ rank: a }: Place, { rank: b }: Place): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}
