import { Heap } from './heap.ts';
import type { Job, Want } from './job.ts';

interface Alarm {
  readonly at: number;
  readonly key: string;
  readonly want: Want;
}

/** Jobs that wait for a moment. */
export class Alarms {
  readonly #heap = new Heap<Alarm>((a, b) => a.at < b.at);
  readonly #jobs: ReadonlyMap<string, Job>;

  constructor(jobs: ReadonlyMap<string, Job>) {
    this.#jobs = jobs;
  }

  set(job: Job, at: number): void {
    this.#heap.push({ at, key: job.record.key, want: job.want });
  }

  /** When the next one rings. */
  nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** A job whose moment has come, if any is left. */
  takeDue(now: number): Job | undefined {
    const alarm = this.#next();
    if (alarm === undefined || alarm.at > now) return undefined;
    this.#heap.pop();
    return this.#jobs.get(alarm.key);
  }

  #next(): Alarm | undefined {
    for (;;) {
      const alarm = this.#heap.peek();
      if (alarm === undefined || this.#jobs.get(alarm.key)?.want === alarm.want) return alarm;
      this.#heap.pop();
    }
  }
}
