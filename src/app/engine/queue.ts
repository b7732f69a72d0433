import { randomBytes } from 'node:crypto';
import type { SliceQueue } from '../../engine/queue/queue.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Redactor } from '../output/redact.ts';
import type { OpenEngine } from '../service/engine/connect.ts';

/** The queue that assigns the slices of a run. All workers of a run use the same one. */
export type QueueChoice =
  | { readonly kind: 'bullmq' }
  | { readonly kind: 'lease' }
  /** Address without user and password: each worker has its own. */
  | { readonly kind: 'redis'; readonly url: string };

/** The queue that a user named with `--queue`. */
export interface NamedQueue {
  readonly choice: QueueChoice;
  /** Full `redis://` address, with user and password. */
  readonly address?: string;
}

/** Reads `bullmq`, `lease` or `redis://…`. @throws CliError (exit 2) */
export function namedQueue(text: string | undefined, redactor: Redactor): NamedQueue {
  if (text === undefined || text === 'bullmq') return { choice: { kind: 'bullmq' } };
  if (text === 'lease') return { choice: { kind: 'lease' } };
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text))
    throw usageError(
      '--queue takes bullmq, lease or redis://host:port.',
      'bullmq and lease are in the engine itself; lease is for engines behind a connection pooler.',
    );
  const url = new URL(text);
  if (url.password !== '') {
    redactor.addCredential(url.password);
    redactor.addCredential(decodeURIComponent(url.password));
  }
  url.username = '';
  url.password = '';
  return { choice: { kind: 'redis', url: url.href }, address: text };
}

/**
 * Opens the queue that a run has chosen.
 *
 * @param named this process's own `--queue`: the only Redis that is contacted, with its user and password
 * @throws EngineError; CliError (exit 2) where the run's queue is on another Redis
 */
export async function openQueue(
  { address, pool, clock }: OpenEngine,
  choice: QueueChoice,
  of: {
    readonly worker: string;
    readonly leaseMs: number;
    readonly mayMigrate: boolean;
    readonly named: NamedQueue | undefined;
  },
): Promise<SliceQueue> {
  const { leaseMs, mayMigrate, named } = of;
  // A worker that restarts under the same name counts as a new one.
  const worker = `${of.worker}:${randomBytes(4).toString('hex')}`;
  if (choice.kind === 'lease') {
    const { LeaseQueue } = await import('../../engine/queue/lease-queue.ts');
    return new LeaseQueue(pool, { worker, leaseMs });
  }
  const { BullmqQueue } = await import('../../engine/queue/bullmq-queue.ts');
  if (choice.kind === 'redis') {
    const { bullmqOnRedis } = await import('../../engine/queue/bullmq-redis.ts');
    const own = named?.choice.kind === 'redis' && named.choice.url === choice.url ? named.address : undefined;
    // Otherwise anybody who can write to the engine could make this machine connect to any other.
    if (own === undefined)
      throw usageError(
        `Its queue is on ${choice.url}, and this process was not told to use that server.`,
        `If you trust it: --queue ${choice.url}, with user and password if it needs them.`,
      );
    return new BullmqQueue(await bullmqOnRedis(own, leaseMs), { worker, leaseMs, clock });
  }
  const { bullmqOnPostgres } = await import('../../engine/queue/bullmq-postgres.ts');
  const place = await bullmqOnPostgres(address, pool, { clock, leaseMs, mayMigrate });
  return new BullmqQueue(place, { worker, leaseMs, clock });
}
