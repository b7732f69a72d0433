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
    for (;;) {
      const alarm = this.#heap.peek();
      if (alarm === undefined) return undefined;
      if (this.#jobs.get(alarm.key)?.want === alarm.want) return alarm.at;
      this.#heap.pop();
    }
  }

  /** A job whose moment has come, if any is left. */
  takeDue(now: number): Job | undefined {
    const at = this.nextAt();
    if (at === undefined || at > now) return undefined;
    const alarm = this.#heap.pop();
    return alarm === undefined ? undefined : this.#jobs.get(alarm.key);
  }
}
