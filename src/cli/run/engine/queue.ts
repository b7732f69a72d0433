import { randomBytes } from 'node:crypto';
import type { SliceQueue } from '../../../engine/queue/queue.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { OpenEngine } from '../../service/engine/connect.ts';
import type { Redactor } from '../../terminal/redact.ts';

/** Which queue says whose turn a slice is. All workers of a run use the same. */
export type QueueChoice =
  | { readonly kind: 'bullmq' }
  | { readonly kind: 'lease' }
  /** Without user and password: each worker has its own. */
  | { readonly kind: 'redis'; readonly url: string };

/** What a user named as `--queue`. */
export interface NamedQueue {
  readonly choice: QueueChoice;
  /** Of `redis://`, with what gives access. */
  readonly address?: string;
}

/** Reads `bullmq`, `lease` or `redis://…`. @throws CliError (exit 2) */
export function namedQueue(text: string | undefined, redactor: Redactor): NamedQueue {
  if (text === undefined || text === 'bullmq') return { choice: { kind: 'bullmq' } };
  if (text === 'lease') return { choice: { kind: 'lease' } };
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text))
    throw usageError(
      '--queue takes bullmq, lease or redis://host:port.',
      'bullmq and lease lie in the engine itself; lease is for engines behind a pooler of connections.',
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
 * Opens the queue of runs that chose it.
 *
 * @param named of this process's own `--queue`: where the run's queue is on Redis, its user and password are from there
 * @throws EngineError; CliError (exit 2) where Redis wants what only `--queue` has
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
  // A worker that is started again under its name is another one.
  const worker = `${of.worker}:${randomBytes(4).toString('hex')}`;
  if (choice.kind === 'lease') {
    const { LeaseQueue } = await import('../../../engine/queue/lease-queue.ts');
    return new LeaseQueue(pool, { worker, leaseMs });
  }
  const { BullmqQueue } = await import('../../../engine/queue/bullmq-queue.ts');
  if (choice.kind === 'redis') {
    const { bullmqOnRedis } = await import('../../../engine/queue/bullmq-redis.ts');
    const own = named?.choice.kind === 'redis' && named.choice.url === choice.url ? named.address : undefined;
    return new BullmqQueue(await bullmqOnRedis(own ?? choice.url, leaseMs), { worker, leaseMs, clock });
  }
  const { bullmqOnPostgres } = await import('../../../engine/queue/bullmq-postgres.ts');
  const place = await bullmqOnPostgres(address, pool, { clock, leaseMs, mayMigrate });
  return new BullmqQueue(place, { worker, leaseMs, clock });
}
