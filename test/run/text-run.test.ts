import { describe, expect, it } from 'vitest';
import type { RunSettings } from '../../src/run/ports.ts';
import { failure } from '../rig/failure.ts';
import { type GatewayScript, ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
import { epoch } from '../rig/jobs.ts';
import { type MemoryStore, memoryStore } from '../rig/memory-store.ts';
import { cellsUpTo, greeting, type PlannedText, resolveTexts } from '../rig/text-plan.ts';
import { textReply } from '../rig/text-reply.ts';
import {
  runVirtually,
  seededRandom,
  type VirtualRun,
  type VirtualRunOptions,
  virtualSettings,
} from '../rig/virtual-run.ts';

/** Text jobs, what is durable, and the service: run after run against the same three. */
function world(cells: number, planned: readonly PlannedText[], script: GatewayScript = {}) {
  const store: MemoryStore = memoryStore();
  const service = new ScriptedGateway(script);
  let startAt = epoch;
  const run = (settings: Partial<RunSettings> = {}, options: Partial<VirtualRunOptions> = {}): VirtualRun => {
    const result = runVirtually({
      cells: cellsUpTo(cells),
      resolve: resolveTexts(planned),
      settings: virtualSettings(settings),
      store,
      service,
      random: seededRandom(1),
      startAt,
      ...options,
    });
    startAt = result.endedAt + 60_000;
    return result;
  };
  return { store, service, run };
}

const hello: PlannedText = { step: 'hello', request: greeting };

describe('text jobs in virtual time', () => {
  it('are called once each, and never again', () => {
    const { run, service, store } = world(50, [hello]);
    const first = run();
    expect([first.end, first.submits, first.tokens]).toEqual([{ kind: 'complete' }, 50, 750]);
    expect(store.totals()).toMatchObject({ attempts: 50, tokens: 750 });
    expect([run().end, service.calls.length]).toEqual([{ kind: 'complete' }, 50]);
  });

  it('use all requests where there is nothing else, and open no more cells than they can call', () => {
    const { run } = world(500, [hello]);
    const { most } = run({ limits: { tasks: 12, requests: 16 } });
    expect([most.requests, most.taskSlots]).toEqual([16, 0]);
    expect(most.cells).toBeLessThanOrEqual(16);
  });

  it('go deep before new cells are opened', () => {
    const { run, service } = world(20, [hello, { step: 'then', request: greeting, after: ['hello'] }]);
    const { most } = run({ limits: { tasks: 1, requests: 4 } });
    expect(most.cells).toBeLessThanOrEqual(4);
    expect(
      service.calls.slice(0, 8).filter(({ record }) => record.key.startsWith('then')).length,
    ).toBeGreaterThan(2);
  });

  it('are called again after a crash, each attempt counted, and never in doubt', () => {
    const { run, service, store } = world(1, [hello]);
    run({}, { dieAfterTurns: 1 });
    expect(store.get('hello1')?.status).toBe('submitting');
    expect(run().end).toEqual({ kind: 'complete' });
    expect(service.calls.length).toBe(1);
    expect(store.get('hello1')).toMatchObject({ status: 'done', attempts: 2 });
  });

  it('stay pending after a crash where no cell asks for them', () => {
    const { run, service, store } = world(1, [hello]);
    run({}, { dieAfterTurns: 1 });
    expect(run({}, { cells: [] }).end).toEqual({ kind: 'complete' });
    expect([store.get('hello1')?.status, service.calls.length]).toEqual(['pending', 0]);
  });

  it('pause together at a 429 for its Retry-After, and use up no attempt', () => {
    const { run, service, store } = world(6, [hello], {
      onAsk: ({ number }) =>
        number === 1
          ? failure('service.throttled', 'throttle', { status: 429, retryAfterMs: 22_000 })
          : undefined,
    });
    run({ limits: { tasks: 1, requests: 1 } });
    const [first, second] = service.calls.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(22_000);
    expect(store.totals().attempts).toBe(6);
  });

  it('stop the run after twenty equal refusals in a row', () => {
    const { run } = world(60, [hello], {
      onAsk: () =>
        failure('service.rejected', 'permanent', {
          status: 400,
          serviceMessage: 'thinking_level is not supported',
        }),
    });
    expect(run().end).toMatchObject({ kind: 'stopped', code: 'route.refused' });
  });

  it('continue after calls that are refused again as in an earlier run', () => {
    const { run, service } = world(30, [hello], {
      onAsk: ({ number }) =>
        number <= 41 ? failure('service.rejected', 'permanent', { status: 400, message: 'no' }) : undefined,
    });
    const limits = { tasks: 1, requests: 1 };
    expect(run({ limits }).end).toMatchObject({ kind: 'stopped', code: 'route.refused' });
    expect(service.calls).toHaveLength(20);
    // Ten that were never tried are refused too, then ten of those that were: nobody was served.
    expect(run({ limits }).end).toMatchObject({ kind: 'stopped', code: 'route.refused' });
    expect(service.calls).toHaveLength(40);
    expect(run({ limits }).end).toEqual({ kind: 'complete' });
  });

  it('count towards --max-submits and budget.submits', () => {
    const { run, service } = world(10, [hello]);
    expect(run({ maxSubmits: 3 }).end).toMatchObject({ kind: 'budget', code: 'budget.max-submits' });
    expect(run({ budget: { submits: 5 } }).end).toMatchObject({ kind: 'budget', code: 'budget.submits' });
    expect(service.calls.length).toBe(5);
  });

  it('are called again by --retry-failed, all or those of one code, and by --redo', () => {
    let blocked = true;
    const { run, service, store } = world(3, [hello], {
      onAsk: ({ record }) =>
        blocked && record.key === 'hello2'
          ? textReply({}, { candidates: [], blockReason: 'SAFETY' })
          : undefined,
    });
    run();
    expect(store.get('hello2')).toMatchObject({ status: 'failed', error: { code: 'text.blocked' } });
    blocked = false;
    run({ retryFailed: { code: 'text.schema' } });
    expect(store.get('hello2')?.status).toBe('failed');
    run({ retryFailed: { code: 'text.blocked' } });
    expect(store.get('hello2')).toMatchObject({ status: 'done', attempts: 2, usage: { total: 30 } });
    run({}, { redo: { keys: ['hello1'], again: true } });
    expect(store.get('hello1')).toMatchObject({ status: 'done', attempts: 2, usage: { total: 30 } });
    expect(service.calls.length).toBe(5);
  });

  it('are called again by --retry-failed where the step now accepts their finish reason', () => {
    const cutOff = { onAsk: () => textReply({ text: 'It was a', finishReason: 'MAX_TOKENS' }) };
    const first = world(1, [hello], cutOff);
    first.run();
    expect(first.store.get('hello1')?.error?.code).toBe('text.max-tokens');
    first.run({ retryFailed: {} }, { resolve: resolveTexts([{ ...hello, accept: ['MAX_TOKENS'] }]) });
    expect(first.store.get('hello1')).toMatchObject({ status: 'done', call: { accept: ['MAX_TOKENS'] } });
  });

  it('stay within the tokens of a minute by their actual counts', () => {
    const perMs = 60_000;
    const { run, service } = world(40, [hello], {
      onAsk: ({ number }) => textReply({ text: 'x' }, { usage: { total: 400 + (number % 5) * 20 } }),
    });
    const result = run({ limits: { tasks: 1, requests: 8, tokens: { count: 3000, perMs } } });
    expect(result.end).toEqual({ kind: 'complete' });
    const times = service.calls.map(({ at, number }) => ({ at, tokens: 400 + (number % 5) * 20 }));
    for (const { at } of times) {
      const sum = times
        .filter((one) => one.at > at - perMs && one.at <= at)
        .reduce((all, { tokens }) => all + tokens, 0);
      expect(sum).toBeLessThanOrEqual(3000 + 480);
    }
    // Six calls a minute are what the limit has room for: it is used.
    expect(result.endedAt - epoch).toBeLessThan(10 * perMs);
  });

  it('stop before budget.tokens would be exceeded, and continue with a larger one', () => {
    const { run, store } = world(20, [hello], {
      onAsk: () => textReply({ text: 'x' }, { usage: { prompt: 100, candidates: 900, total: 1000 } }),
    });
    expect(run({ budget: { tokens: 5500 } }).end).toMatchObject({ kind: 'budget', code: 'budget.tokens' });
    const { tokens } = store.totals();
    expect(tokens).toBeGreaterThanOrEqual(4000);
    expect(tokens).toBeLessThanOrEqual(5500);
    expect(run({ budget: { tokens: 100_000 } }).end).toEqual({ kind: 'complete' });
    expect(store.totals().tokens).toBe(20_000);
  });

  it('stop before budget.cost would be exceeded, by the price of their tokens', () => {
    const { run, store } = world(20, [hello], {
      onAsk: () => textReply({ text: 'x' }, { usage: { prompt: 100, candidates: 1000, total: 1100 } }),
    });
    const prices = { 'text-pro': { input: 1, output: 1000 } };
    expect(run({ prices, budget: { cost: 5.5 } }).end).toMatchObject({ kind: 'budget', code: 'budget.cost' });
    const { cost } = store.totals();
    expect(cost).toBeGreaterThan(3);
    expect(cost).toBeLessThanOrEqual(5.5);
  });

  it('are not made under budget.cost where their model has no price', () => {
    const { run, store } = world(10, [hello]);
    const prices = { other: 1 };
    expect(run({ prices, budget: { cost: 3 } }).end).toMatchObject({
      kind: 'budget',
      code: 'budget.unpriced',
    });
    expect(store.totals().attempts).toBe(0);
    expect(run({ prices }).end).toEqual({ kind: 'complete' });
  });

  it('count a fixed price for each call', () => {
    const { run, store } = world(10, [hello]);
    expect(run({ prices: { generate: 0.5 }, budget: { cost: 3 } }).end).toMatchObject({
      code: 'budget.cost',
    });
    expect(store.totals().cost).toBe(3);
  });

  it('are named when a quiet run waits for them', () => {
    const { run } = world(2, [hello]);
    const { events } = run({}, { latency: () => 1_500_000 });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'run:waiting',
        jobs: ['hello1', 'hello2'],
        reason: '2 text calls are not answered; the oldest was sent 10 min ago',
      }),
    );
  });
});
