import { seededRandom } from '../../rig/virtual-run.ts';

/** What is done to the processes of a run, and when. */
export interface Fault {
  /** First so many further tasks are waited for, then so many ms; none of it for longer than a few seconds. */
  readonly tasks: number;
  readonly ms: number;
  readonly does:
    | {
        readonly kind: 'kill' | 'stop';
        /** 0 is the coordinator, the others are workers. */
        readonly whom: number;
        /** Then it is started again, or goes on. */
        readonly forMs: number;
      }
    | {
        readonly kind: 'restart';
        /** `fast`: its clients are told. `immediate`: as a crash. */
        readonly how: 'fast' | 'immediate';
        readonly forMs: number;
      }
    /** Of a queue on Redis. */
    | { readonly kind: 'redis'; readonly how: 'restart' | 'flush'; readonly forMs: number };
}

export interface FaultOptions {
  readonly seed: number;
  /** Beside those of Redis. */
  readonly faults: number;
  /** Processes beside the coordinator. */
  readonly workers: number;
  readonly leaseMs: number;
  readonly redis?: boolean;
}

/**
 * The same faults for the same seed. Each plan has a kill of the coordinator, of a worker, and a stop beyond the lease; of five, three have a
 * restart for certain.
 */
export function drawFaults({
  seed,
  faults,
  workers,
  leaseMs,
  redis = false,
}: FaultOptions): readonly Fault[] {
  const random = seededRandom(seed);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const worker = (): number => 1 + upTo(workers - 1);
  const kill = (whom: number): Fault['does'] => ({ kind: 'kill', whom, forMs: upTo(600) });
  const stop = (whom: number, leases: number): Fault['does'] => ({
    kind: 'stop',
    whom,
    forMs: Math.floor(leases * leaseMs),
  });
  const restart = (): Fault['does'] => ({
    kind: 'restart',
    how: random() < 0.5 ? 'fast' : 'immediate',
    forMs: upTo(1500),
  });
  const certain = [kill(0), kill(worker()), stop(worker(), 1.5 + random())];
  if (random() < 0.6) certain.push(restart());
  const drawn = (): Fault['does'] => {
    const which = random();
    const whom = random() < 0.15 ? 0 : worker();
    if (which < 0.48) return kill(whom);
    if (which > 0.96) return restart();
    return stop(whom, random() < 0.12 ? 0.2 + 0.6 * random() : 1.1 + 1.5 * random());
  };
  const all = certain.slice(0, faults);
  while (all.length < faults) all.push(drawn());
  if (redis && faults > 0)
    all.push({ kind: 'redis', how: 'restart', forMs: upTo(1000) }, { kind: 'redis', how: 'flush', forMs: 0 });
  // In an order of its own.
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = upTo(at);
    [all[at], all[other]] = [all[other] as Fault['does'], all[at] as Fault['does']];
  }
  return all.map((does) => ({ does, tasks: upTo(8), ms: upTo(120) }));
}
