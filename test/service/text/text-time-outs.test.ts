import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';

import { BodyPool } from '../../../src/service/http/body/budget.ts';
import type { Timer } from '../../../src/service/http/timeout.ts';
import type { TextServiceOptions } from '../../../src/service/text-client.ts';
import { never } from '../scripted-fetch.ts';
import { bytesOf, event } from './streams.ts';
import { call, textServiceWith } from './text-service.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const bounds = { textMs: 600_000, firstByteMs: 180_000, idleMs: 60_000 };

/** A call whose reply and whose time are the test's own. */
function underWay(stream: boolean, options: Partial<TextServiceOptions> = {}) {
  const pending = new Map<object, { readonly ms: number; readonly expire: () => void }>();
  let started = 0;
  const timer: Timer = (ms, expire) => {
    started += 1;
    const set = { ms, expire };
    pending.set(set, set);
    return () => pending.delete(set);
  };
  let body: ReadableStreamDefaultController<Uint8Array> | undefined;
  let respond: ((response: Response) => void) | undefined;
  const stop = new AbortController();
  const fetch: typeof globalThis.fetch = (_url, init) =>
    new Promise((resolve, reject) => {
      respond = resolve;
      init?.signal?.addEventListener('abort', () => {
        const reason = init.signal?.reason as Error;
        reject(reason);
        try {
          body?.error(reason);
        } catch {
          // It is over already.
        }
      });
    });
  const service = textServiceWith({ ...bounds, fetch, timer, elapsed: () => 0, ...options });
  const result = service.ask(call({ prompt: 'a' }, { stream }), stop.signal);
  return {
    result,
    stop,
    /** The bounds that run now, shortest first. */
    running: () => [...pending.values()].map(({ ms }) => ms).sort((a, b) => a - b),
    /** Timers that were ever set. */
    started: () => started,
    expire: (ms: number) => {
      const found = [...pending.values()].find((set) => set.ms === ms);
      if (found === undefined) throw new Error(`no timer of ${ms} ms`);
      pending.delete(found);
      found.expire();
    },
    begin: async () => {
      await turn();
      respond?.(new Response(new ReadableStream({ start: (controller) => void (body = controller) })));
      await turn();
    },
    send: async (text: string) => {
      body?.enqueue(bytesOf(text));
      await turn();
      await turn();
    },
    end: () => body?.close(),
  };
}

const delta = (text: string, finishReason?: string): string =>
  `data: ${JSON.stringify(event([{ text }], finishReason === undefined ? {} : { finishReason }, { promptTokenCount: 2 }))}\n\n`;

test('a stream that does not begin is given up', async () => {
  const one = underWay(true);
  expect(one.running()).toEqual([180_000, 600_000]);
  await one.begin();
  one.expire(180_000);
  expect(await one.result).toMatchObject({
    ok: false,
    error: {
      code: 'connection.timeout',
      class: 'retry',
      message: expect.stringContaining('did not begin for 180 s'),
    },
  });
  expect(one.running()).toEqual([]);
});

test('a stream that falls silent is given up after its last chunk, and its usage is reported', async () => {
  const one = underWay(true);
  await one.begin();
  for (const piece of [': ping\n\n', delta('a'), delta('b')]) {
    const before = one.started();
    await one.send(piece);
    expect(one.running()).toEqual([60_000, 600_000]);
    expect(one.started()).toBe(before + 1);
  }
  one.expire(60_000);
  expect(await one.result).toMatchObject({
    ok: false,
    error: { code: 'connection.timeout', class: 'retry', usage: { prompt: 2 }, status: 200 },
  });
  expect(one.running()).toEqual([]);
});

test('a whole reply has no limit for its first byte, but one for silence once it has begun', async () => {
  const one = underWay(false);
  expect(one.running()).toEqual([600_000]);
  await one.begin();
  expect(one.running()).toEqual([600_000]);
  await one.send('{"candidates"');
  expect(one.running()).toEqual([60_000, 600_000]);
  one.expire(60_000);
  expect(await one.result).toMatchObject({
    ok: false,
    error: { code: 'connection.timeout', class: 'retry' },
  });
});

test('a reply that has arrived completely has no limit of silence', async () => {
  /** Brings a reply in two pieces, and its end with the second one or later. */
  const bounded = async (isLate: boolean): Promise<readonly number[]> => {
    const set: number[] = [];
    const timer: Timer = (ms) => {
      set.push(ms);
      return () => undefined;
    };
    const dispatcher = {
      dispatch: (_options: unknown, handler: Dispatcher.DispatchHandler) => {
        const controller = { pause: () => {}, resume: () => {} } as unknown as Dispatcher.DispatchController;
        handler.onRequestStart?.(controller, {});
        handler.onResponseStart?.(controller, 200, {}, 'OK');
        const [first, second] = [bytesOf('{"candidates"'), bytesOf(':[]}')];
        handler.onResponseData?.(controller, Buffer.from(first));
        handler.onResponseData?.(controller, Buffer.from(second));
        const end = (): void => handler.onResponseEnd?.(controller, {});
        if (isLate) setImmediate(end);
        else end();
        return true;
      },
    } as unknown as Dispatcher;
    const service = textServiceWith({ ...bounds, dispatcher, timer });
    expect(await service.ask(call({ prompt: 'a' }), never)).toMatchObject({ ok: true });
    return set;
  };
  expect(await bounded(false)).toEqual([600_000]);
  expect(await bounded(true)).toEqual([600_000, 60_000, 60_000]);
});

test('the whole call has a time limit, however busy its stream is', async () => {
  const one = underWay(true);
  await one.begin();
  await one.send(delta('a'));
  one.expire(600_000);
  expect(await one.result).toMatchObject({
    ok: false,
    error: { code: 'connection.timeout', usage: { prompt: 2 } },
  });
});

test('a connection that stays open after [DONE] is waited for only briefly, and nothing is lost', async () => {
  const one = underWay(true);
  await one.begin();
  await one.send(`${delta('a', 'STOP')}data: [DONE]\n\n`);
  expect(one.running()).toEqual([1000, 600_000]);
  one.expire(1000);
  expect(await one.result).toMatchObject({ ok: true, value: { candidates: [{ text: 'a' }] } });
  expect(one.running()).toEqual([]);
});

test('an error before the silence is reported instead of the silence', async () => {
  const one = underWay(true);
  await one.begin();
  await one.send(`${delta('a')}${JSON.stringify({ error: { code: 429, message: 'slow' } })}\n`);
  one.expire(60_000);
  expect(await one.result).toMatchObject({
    ok: false,
    error: { code: 'service.throttled', class: 'throttle' },
  });
});

test('an error in the stream ends it at once', async () => {
  const one = underWay(true);
  await one.begin();
  await one.send(`data: {"error":{"code":503,"message":"overloaded"}}\n\n`);
  expect(await one.result).toMatchObject({ ok: false, error: { code: 'service.unavailable' } });
  expect(one.running()).toEqual([]);
});

test('a call is cancelled with its run', async () => {
  const one = underWay(true);
  await one.begin();
  await one.send(delta('a'));
  one.stop.abort(new Error('enough'));
  expect(await one.result).toMatchObject({
    ok: false,
    error: { code: 'connection.aborted', class: 'retry' },
  });
  expect(one.running()).toEqual([]);
});

test('waiting for room does not count as time, and unkept bytes of a stream are not counted', async () => {
  const bodies = new BodyPool(0);
  const other = bodies.open(never);
  void other.take(128 * 1024);
  const one = underWay(true, { bodies });
  await one.begin();
  // Its comments and counts take more than the room that it has, what is kept of it does not.
  for (let i = 0; i < 20; i++) await one.send(`: ${'.'.repeat(8192)}\n\n${delta('a')}`);
  expect(bodies.waiting).toBe(0);
  await one.send(delta('b'.repeat(70_000)));
  expect(bodies.waiting).toBe(1);
  expect(one.running()).toEqual([]);
  other.release();
  await turn();
  expect(one.running()).toEqual([60_000, 600_000]);
  await one.send(delta('c', 'STOP'));
  one.end();
  const result = await one.result;
  expect(result.ok && result.value.candidates[0]?.text).toBe(`${'a'.repeat(20)}${'b'.repeat(70_000)}c`);
  expect(bodies.held).toBe(0);
});
