import { describe, expect, it } from 'vitest';
import type { SaveFailure } from '../../../../src/artifacts/writer.ts';
import type { RunEvent } from '../../../../src/run/events.ts';
import {
  isDeferral,
  type JobResult,
  outcomeOf,
  type RouteReading,
  readResult,
} from '../../../../src/run/scheduler/routes/outcome.ts';
import { Routes } from '../../../../src/run/scheduler/routes/routes.ts';
import type { ServiceFailure } from '../../../../src/service/result.ts';
import { failure } from '../../../rig/failure.ts';
import { epoch, textRecord } from '../../../rig/jobs.ts';
import { askedOf, textReply } from '../../../rig/text-reply.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

const key = 'aa11';
const task = { id: 'T', state: 'unfinished', status: 'IN_PROGRESS', buttons: [] } as const;
const artifact = { output: 1, file: 'images/aa/aa11-1.png', bytes: 1, sha256: 's', mime: 'image/png' };
const reply = askedOf(textRecord(), textReply({ text: 'Hello.' }));
const file = (kind: SaveFailure['class'], more: Partial<SaveFailure> = {}): SaveFailure => ({
  code: 'disk.full',
  class: kind,
  message: 'Full.',
  ...more,
});

/** Each kind of answer that a failure of the service can stand in. */
const failed = (error: ServiceFailure): readonly JobResult[] => [
  { type: 'submitted', key, result: { ok: false, error } },
  { type: 'fetched', key, why: 'poll', result: { ok: false, error } },
  { type: 'searched', key, result: { ok: false, error } },
  { type: 'asked', key, result: { kind: 'refused', error } },
];
/** Each kind of answer that a failure of a file can stand in. */
const broken = (error: SaveFailure): readonly JobResult[] => [
  { type: 'saved', key, result: { ok: false, error } },
  { type: 'unread', key, error },
  { type: 'masked', key, error },
  { type: 'asked', key, result: { kind: 'unread', error } },
  { type: 'asked', key, result: { kind: 'unwritten', error } },
];
const well: readonly JobResult[] = [
  { type: 'submitted', key, result: { ok: true, value: { kind: 'accepted', taskId: 'T', code: 1 } } },
  { type: 'submitted', key, result: { ok: true, value: { kind: 'modal', taskId: 'T', code: 21 } } },
  { type: 'fetched', key, why: 'link', result: { ok: true, value: task } },
  { type: 'searched', key, result: { ok: true, value: [task] } },
  { type: 'saved', key, result: { ok: true, value: artifact } },
  { type: 'asked', key, result: reply },
];
const served = { signal: { kind: 'served' } };

describe('an answer', () => {
  it('came by its route, and is handed to its job as it is', () => {
    const all: readonly JobResult[] = [...well, ...broken(file('retry')), { type: 'masked', key }];
    for (const input of all) {
      const { key: _, ...event } = input;
      expect(outcomeOf(input).event).toStrictEqual(event);
    }
    const routes = [
      ...well,
      { type: 'masked', key } as const,
      { type: 'unread', key, error: file('retry') } as const,
    ];
    expect(routes.map((input) => outcomeOf(input).route)).toEqual([
      'submit',
      'submit',
      'poll',
      'poll',
      'download',
      'text',
      'download',
      'submit',
    ]);
  });

  it('that is well shows that its route serves', () => {
    for (const input of well) expect(outcomeOf(input).reading).toEqual(served);
    expect(readResult({ ok: true, value: [] })).toEqual(served);
  });

  const reason = 'service.x (made up)';
  it.each<[ServiceFailure['class'], object]>([
    ['stop', { end: { kind: 'stopped', code: 'service.x', message: reason } }],
    ['throttle', { signal: { kind: 'throttled', reason } }],
    ['unsent', { signal: { kind: 'unreachable', reason } }],
    ['lost', { signal: { kind: 'trouble', reason, isUnclear: false, isCut: true } }],
    ['retry', { signal: { kind: 'trouble', reason, isUnclear: false, isCut: false } }],
    ['permanent', { signal: { kind: 'refused', words: `service.x: ${reason}` } }],
  ])('that failed as %s is the same to every route', (kind, reading) => {
    const error = failure('service.x', kind);
    for (const input of failed(error)) expect(outcomeOf(input).reading).toEqual(reading);
    expect(readResult({ ok: false, error })).toEqual(reading);
  });

  it('says whether it certainly made nothing', () => {
    for (const input of failed(failure('service.x', 'retry', { unmade: true })))
      expect(outcomeOf(input).reading).toMatchObject({ signal: { kind: 'trouble', isUnmade: true } });
  });

  it('that is deferred says for how long, where the service does', () => {
    for (const input of failed(failure('service.x', 'throttle', { retryAfterMs: 7 })))
      expect(outcomeOf(input).reading).toEqual({ signal: { kind: 'throttled', reason, retryAfterMs: 7 } });
  });

  it('of a service that has no list says nothing about the route', () => {
    const error = failure('service.no-listing', 'permanent');
    expect(outcomeOf({ type: 'searched', key, result: { ok: false, error } }).reading).toEqual({});
    expect(outcomeOf({ type: 'submitted', key, result: { ok: false, error } }).reading).toHaveProperty(
      'signal',
    );
  });

  it('about a full queue defers, and one about a prompt shows that the route serves', () => {
    const about = (code: number, kind: 'queue-full' | 'refused') =>
      outcomeOf({ type: 'submitted', key, result: { ok: true, value: { kind, code, message: 'no' } } })
        .reading;
    expect(about(23, 'queue-full')).toEqual({ signal: { kind: 'throttled', reason: 'no' } });
    expect(about(24, 'queue-full')).toEqual({ signal: { kind: 'throttled', reason: 'no' } });
    expect(about(24, 'refused')).toEqual(served);
    expect(about(4, 'refused')).toEqual({ signal: { kind: 'refused', words: 'code 4: no' } });
  });

  it('about the disk ends the run, whatever it is about besides', () => {
    for (const input of broken(file('stop')))
      expect(outcomeOf(input).reading).toEqual({
        end: { kind: 'disk', code: 'disk.full', message: 'Full.' },
      });
  });

  it('about a file that passes says nothing about the route, but for a download', () => {
    const [saved, unread, masked, asked, unwritten] = broken(file('retry')).map(
      (input) => outcomeOf(input).reading,
    );
    expect(saved).toEqual({
      signal: { kind: 'trouble', reason: 'Full.', isUnclear: false, isCut: false },
    });
    expect([unread, masked, asked]).toEqual([{}, {}, {}]);
    expect(unwritten).toEqual(served);
    expect(outcomeOf({ type: 'masked', key }).reading).toEqual({});
  });

  it('is a deferral where it only says: later', () => {
    expect(isDeferral({ reading: { signal: { kind: 'throttled', reason: 'r' } } })).toBe(true);
    expect(isDeferral({ reading: { signal: { kind: 'trouble', reason: 'r' } } })).toBe(false);
    expect(isDeferral({ reading: {} })).toBe(false);
    expect(isDeferral({ reading: { end: { kind: 'complete' } } })).toBe(false);
  });
});

describe('a 503 on a route that serves others', () => {
  const read = (input: JobResult) => outcomeOf(input, true).event;
  const classOf = (input: JobResult): string | undefined => {
    const event = read(input);
    if ('result' in event && 'error' in event.result) return event.result.error.class;
    return 'error' in event ? event.error?.class : undefined;
  };

  it('is read as a deferral in every answer of a service', () => {
    const busy = failure('service.unavailable', 'retry', { status: 503, retryAfterMs: 7 });
    expect(failed(busy).map(classOf)).toEqual(['throttle', 'throttle', 'throttle', 'throttle']);
    const [submitted] = failed(busy).map(read);
    expect(submitted).toEqual({
      type: 'submitted',
      result: { ok: false, error: { ...busy, class: 'throttle' } },
    });
    for (const input of failed(busy)) {
      const signal = { kind: 'throttled', reason: busy.message, retryAfterMs: 7 };
      expect(outcomeOf(input, true).reading).toEqual({ signal });
      expect(isDeferral(outcomeOf(input))).toBe(false);
    }
    expect(broken(file('retry', { status: 503 })).map(classOf)).toEqual([
      'throttle',
      'retry',
      'retry',
      'retry',
      'retry',
    ]);
  });

  it.each([
    failure('service.unavailable', 'retry', { status: 502 }),
    failure('service.unavailable', 'retry'),
    failure('service.rejected', 'permanent', { status: 503 }),
    failure('service.lost', 'lost', { status: 503 }),
  ])('and nothing else is: %#', (error) => {
    for (const input of failed(error)) expect(outcomeOf(input, true)).toEqual(outcomeOf(input));
    expect(failed(error).map(classOf)).toEqual(failed(error).map(() => error.class));
  });

  it('leaves what is well as it is', () => {
    for (const input of [...well, { type: 'masked', key } as const])
      expect(outcomeOf(input, true)).toEqual(outcomeOf(input));
  });
});

describe('a route that takes note of an answer', () => {
  const noted = (reading: RouteReading, times = 1) => {
    const settings = virtualSettings({
      limits: { tasks: 12, requests: 8, submit: { count: 60, perMs: 60_000 } },
    });
    const routes = new Routes(settings, new Map(), () => 1);
    const keys = Array.from({ length: times }, (_, n) => `k${n}`);
    for (const one of keys) routes.onSent('submit', epoch, one);
    const events: RunEvent[] = [];
    const end = keys
      .map((one) => routes.note({ route: 'submit', reading, key: one }, epoch, (event) => events.push(event)))
      .at(-1);
    return { events, end };
  };

  it('ends the run where the answer says so', () => {
    const end = { kind: 'disk', code: 'disk.full', message: 'm' } as const;
    expect(noted({ end })).toEqual({ events: [], end });
    expect(noted({})).toEqual({ events: [], end: undefined });
  });

  it('says nothing where nothing changes', () => {
    expect(noted({ signal: { kind: 'served' } })).toEqual({ events: [], end: undefined });
  });

  it('says from when on it rests, and why', () => {
    const reading = { signal: { kind: 'throttled', reason: 'busy', retryAfterMs: 9000 } } as const;
    const pause = { type: 'route:pause', route: 'submit', untilMs: epoch + 9000, reason: 'busy' };
    expect(noted(reading).events).toEqual([pause]);
    expect(noted(reading, 2).events).toEqual([pause]);
  });

  it('says at which pace it goes on once one is found', () => {
    const routes = new Routes(virtualSettings(), new Map(), () => 1);
    const events: RunEvent[] = [];
    const accepted: number[] = [];
    const send = (at: number, key: string): void => {
      routes.onSent('poll', at, key);
      while ((accepted[0] ?? at) <= at - 10_000) accepted.shift();
      const isRefused = accepted.length >= 20;
      if (!isRefused) accepted.push(at);
      const { lane } = routes.onResult('poll', at + 100, key);
      const signal = isRefused
        ? ({ kind: 'throttled', reason: 'busy' } as const)
        : ({ kind: 'served' } as const);
      routes.note({ route: 'poll', reading: { signal }, lane, key }, at + 100, (event) => events.push(event));
    };
    const poll = routes.queues.poll.lane();
    for (let now = 0, sent = 0; now < 120_000 && sent < 1000; sent += 1) {
      while (poll.nextAt(now) > now) now = poll.nextAt(now);
      send(now, `k${sent}`);
      now += 100;
    }
    const rates = events.flatMap((event) => (event.type === 'route:pace' ? [event] : []));
    expect(rates.length).toBeGreaterThan(0);
    expect(new Set(rates.map(({ route: name }) => name))).toEqual(new Set(['poll']));
    // Twenty within ten seconds.
    expect(rates.at(-1)?.perMinute).toBeGreaterThan(60);
    expect(rates.at(-1)?.perMinute).toBeLessThan(180);
  });
});
