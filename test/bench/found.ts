import type { Rate } from '../../src/pipeline/pipeline.ts';
import type { SubmitResult } from '../../src/service/image-service.ts';
import { failure } from '../rig/failure.ts';
import type { ScriptedGateway, Submission } from '../rig/gateway/scripted-gateway.ts';
import { epoch } from '../rig/jobs.ts';
import { type LimiterKind, limiters } from '../rig/limiters.ts';
import { seededRandom, virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';

/** What a run got of a service whose limit nobody told. */
export interface Got {
  /** Refused submissions behind the warm-up, as a part of all. */
  readonly refused: number;
  /** Accepted submissions a second behind the warm-up. */
  readonly perSecond: number;
}

const full: SubmitResult = { kind: 'queue-full', code: 23, message: 'full' };
const throttled = { error: failure('service.throttled', 'throttle', { status: 429 }) };

/**
 * A run of grids in virtual time against a service whose queue is full at some number of tasks.
 *
 * @param tasks `limits.tasks`
 * @param warmUp submissions that do not count
 * @param refusal what the service answers where it does not accept
 * @param submit `limits.submit`
 */
export async function got(
  cells: number,
  tasks: number,
  accepts: (submit: Submission, service: ScriptedGateway) => boolean,
  taskMs = 5000,
  warmUp = 100,
  refusal: typeof throttled | SubmitResult = full,
  submit?: Rate,
): Promise<Got> {
  const random = seededRandom(5);
  const held: { service?: ScriptedGateway } = {};
  const seen: { readonly at: number; readonly ok: boolean }[] = [];
  const work = await world(grid(cells), {
    duration: () => taskMs * (0.7 + 0.6 * random()),
    onSubmit: (submit) => {
      const ok = held.service === undefined || accepts(submit, held.service);
      seen.push({ at: submit.at - epoch, ok });
      return ok ? undefined : refusal;
    },
  });
  held.service = work.service;
  const settings = virtualSettings({
    limits: { tasks, requests: 32, ...(submit === undefined ? {} : { submit }) },
    poll: { minMs: 200, maxMs: 1000 },
  });
  const { end } = work.run({ settings });
  if (end?.kind !== 'complete') throw new Error(JSON.stringify(end));
  // Without the last ones: the end of a run uses no limit.
  const accepted = seen.filter(({ ok }) => ok);
  const from = seen[warmUp]?.at ?? 0;
  const to = accepted[Math.floor(accepted.length * 0.95)]?.at ?? 0;
  const counted = seen.filter(({ at }) => at >= from && at < to);
  const ok = counted.filter((one) => one.ok).length;
  return { refused: 1 - ok / counted.length, perSecond: (ok * 1000) / (to - from) };
}

/** A run against a service that answers with 429 beyond a rate; told: the rate is in the file. */
export async function gotOfRate(kind: LimiterKind, rate: Rate, isTold = false): Promise<Got> {
  const limiter = limiters[kind](rate);
  const accepts = ({ at }: Submission): boolean => limiter(at - epoch) === undefined;
  return await got(1500, 60, accepts, 5000, 300, throttled, isTold ? rate : undefined);
}
