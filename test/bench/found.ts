import type { Rate } from '../../src/pipeline/pipeline.ts';
import type { SubmitResult } from '../../src/service/image-service.ts';
import { failure } from '../rig/failure.ts';
import type { ScriptedGateway, Submission } from '../rig/gateway/scripted-gateway.ts';
import { epoch } from '../rig/jobs.ts';
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

/**
 * A run of grids in virtual time against a service whose queue is full at some number of tasks.
 *
 * @param tasks `limits.tasks`
 * @param warmUp submissions that do not count
 * @param told how the service refuses, 429 or a full queue; and the rate that the run is told
 */
export async function got(
  cells: number,
  tasks: number,
  accepts: (submit: Submission, service: ScriptedGateway) => boolean,
  taskMs = 5000,
  warmUp = 100,
  told: { readonly isThrottle?: boolean; readonly submit?: Rate } = {},
): Promise<Got> {
  const random = seededRandom(5);
  const held: { service?: ScriptedGateway } = {};
  const seen: { readonly at: number; readonly ok: boolean }[] = [];
  const work = await world(grid(cells), {
    duration: () => taskMs * (0.7 + 0.6 * random()),
    onSubmit: (submit) => {
      const ok = held.service === undefined || accepts(submit, held.service);
      seen.push({ at: submit.at - epoch, ok });
      if (ok) return undefined;
      return told.isThrottle ? { error: failure('service.throttled', 'throttle', { status: 429 }) } : full;
    },
  });
  held.service = work.service;
  const settings = virtualSettings({
    limits: { tasks, requests: 32, ...(told.submit === undefined ? {} : { submit: told.submit }) },
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

const minute = 60_000;

type Accepts = (at: number) => boolean;

/** Services that accept so many submissions a minute; they count as proxies do. */
export const limits = {
  evenly: (count: number): Accepts => leaking(count, 1),
  bucket: (count: number): Accepts => leaking(count, count),
  'whole minutes': (count: number): Accepts => {
    let [window, accepted] = [-1, 0];
    return (at) => {
      if (Math.floor(at / minute) !== window) [window, accepted] = [Math.floor(at / minute), 0];
      accepted += 1;
      return accepted <= count;
    };
  },
  sliding: (count: number): Accepts => {
    const accepted: number[] = [];
    return (at) => {
      while (accepted[0] !== undefined && accepted[0] <= at - minute) accepted.shift();
      if (accepted.length >= count) return false;
      accepted.push(at);
      return true;
    };
  },
} as const;

function leaking(count: number, burst: number): Accepts {
  let [level, last] = [0, 0];
  return (at) => {
    level = Math.max(0, level - ((at - last) * count) / minute);
    last = at;
    if (level + 1 > burst + 1e-9) return false;
    level += 1;
    return true;
  };
}

/** A run against a service that answers with 429 beyond so many submissions a minute; from some time on beyond another number. */
export async function gotOfRate(
  kind: keyof typeof limits,
  count: number,
  changed?: { readonly afterMs: number; readonly count: number },
): Promise<Got> {
  const first = limits[kind](count);
  const second = limits[kind](changed?.count ?? count);
  return await got(
    1500,
    60,
    ({ at }) => (changed !== undefined && at - epoch >= changed.afterMs ? second : first)(at),
    5000,
    300,
    { isThrottle: true },
  );
}

/** What the same run gets where it is told the limit. */
export const gotOfTold = async (count: number): Promise<Got> =>
  await got(1500, 60, () => true, 5000, 300, { submit: { count, perMs: minute } });
