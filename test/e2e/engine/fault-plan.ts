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
    /** Of a cable: that of one process to PostgreSQL, or that of all to the gateway. */
    | {
        readonly kind: 'cut';
        readonly whom: number | 'gateway';
        readonly how: 'stall' | 'reset';
        readonly forMs: number;
      }
    | {
        readonly kind: 'restart';
        /** `fast`: its clients are told. `immediate`: as a crash. `kill`: SIGKILL to all of its processes. */
        readonly how: 'fast' | 'immediate' | 'kill';
        readonly forMs: number;
      }
    /** PostgreSQL is stopped, and its data are copied: what a later restore puts back. */
    | { readonly kind: 'backup' }
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
  /** Nothing but cables to PostgreSQL is cut, and nobody is killed: no text may be asked for twice. */
  readonly cutsOnly?: boolean;
}

/**
 * The same faults for the same seed. Each plan has a kill of the coordinator, of a worker, a stop and a cut beyond the lease; of six, three
 * have a restart for certain.
 */
export function drawFaults({
  seed,
  faults,
  workers,
  leaseMs,
  redis = false,
  cutsOnly = false,
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
  const cut = (whom: number | 'gateway', leases: number): Fault['does'] => ({
    kind: 'cut',
    whom,
    how: random() < 0.7 ? 'stall' : 'reset',
    forMs: Math.floor(leases * leaseMs),
  });
  const restart = (): Fault['does'] => ({
    kind: 'restart',
    how: (['fast', 'immediate', 'kill'] as const)[upTo(2)] ?? 'kill',
    forMs: upTo(1500),
  });
  const beyond = (): number => 1.2 + 2 * random();
  const certain = cutsOnly
    ? [cut(worker(), beyond())]
    : [kill(0), kill(worker()), stop(worker(), 1.5 + random()), cut(worker(), beyond())];
  if (!cutsOnly && random() < 0.6) certain.push(restart());
  const drawn = (): Fault['does'] => {
    const which = random();
    const whom = random() < 0.15 ? 0 : worker();
    if (cutsOnly) return cut(whom, which < 0.2 ? 0.2 + 0.6 * random() : beyond());
    if (which < 0.4) return kill(whom);
    if (which < 0.6) return cut(whom, beyond());
    if (which < 0.7) return cut('gateway', 0.2 + 2 * random());
    if (which > 0.95) return restart();
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
