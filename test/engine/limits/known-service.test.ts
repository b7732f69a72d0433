import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetService, KnownService } from '../../../src/engine/limits/known-service.ts';
import type { EnginePool } from '../../../src/engine/postgres/pool.ts';
import { runStatus } from '../../../src/engine/slices/runs.ts';
import { openFacts } from '../../../src/engine/state/facts.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type TestEngine, testEngine } from '../state/opened.ts';

describe.skipIf(!hasPostgres)('the facts that a worker has seen of the service', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  const workerOf = (run: number, { id = 'here', pool = engine.pool } = {}) => {
    const seen = {
      hasAnswered: false,
      everAnswered: false,
      showsButtons: false,
      elsewhere: 0,
      more: 0,
      onAnsweredElsewhere: () => {
        seen.elsewhere += 1;
      },
    };
    const known = new KnownService({ pool, run }, { id, endpoints: seen });
    known.onMore = () => {
      seen.more += 1;
    };
    const look = async () => known.onLook((await runStatus(engine.pool, run))?.known ?? []);
    return { known, seen, look };
  };

  it('reach the other workers with their next read, each once', async () => {
    const run = await engine.run();
    const [one, other] = [workerOf(run), workerOf(run)];
    await other.look();
    expect([other.known.served.has('submit'), other.seen.elsewhere, other.seen.more]).toEqual([false, 0, 0]);
    one.seen.hasAnswered = true;
    one.known.served.add('submit');
    expect(one.known.served.has('submit')).toBe(true);
    await one.look();
    await one.known.stop();
    await other.look();
    await other.look();
    expect([other.known.served.has('submit'), other.known.served.has('text')]).toEqual([true, false]);
    expect(other.seen).toMatchObject({ hasAnswered: false, showsButtons: false, elsewhere: 1, more: 1 });
    other.known.served.add('text');
    other.known.served.add('poll');
    await other.known.stop();
    await one.look();
    expect([one.known.served.has('text'), one.known.served.has('poll')]).toEqual([true, false]);
  });

  it.each([
    ['at the same address', {}, false, true],
    ['before --relearn', {}, true, false],
    ['at another address', { id: 'there' }, false, false],
  ])('count or do not count: %s', async (_, how, forgets, counts) => {
    const run = await engine.run();
    const before = workerOf(run);
    before.seen.hasAnswered = true;
    before.seen.showsButtons = true;
    before.known.served.add('text');
    before.known.kinds.add('text/model (chat)');
    await before.known.stop();
    if (forgets) await forgetService(await openFacts(engine.pool, run), { pool: engine.pool, run });
    const now = workerOf(run, how);
    await now.look();
    expect([
      now.known.served.has('text'),
      now.known.kinds.has('text/model (chat)'),
      now.seen.showsButtons,
    ]).toEqual([counts, counts, counts]);
    expect(now.seen.elsewhere).toBe(Number(counts));
    // What does not count is replaced once it is seen again.
    now.seen.hasAnswered = true;
    await now.known.stop();
    const next = workerOf(run, how);
    await next.look();
    expect(next.seen.elsewhere).toBe(1);
  });

  it('name the kinds that were served to any worker, whoever writes last, up to 200', async () => {
    const run = await engine.run();
    const [one, other] = [workerOf(run), workerOf(run)];
    one.known.kinds.add('submit/imagine');
    other.known.kinds.add('submit/pan');
    other.known.kinds.add(`text/${'long '.repeat(50)}`);
    await one.known.stop();
    await other.known.stop();
    const next = workerOf(run);
    await next.look();
    expect(['imagine', 'pan', 'edits'].map((kind) => next.known.kinds.has(`submit/${kind}`))).toEqual([
      true,
      true,
      false,
    ]);
    for (let n = 0; n < 300; n += 1) next.known.kinds.add(`text/model-${n}`);
    next.known.served.add('submit');
    await next.known.stop();
    const known = (await runStatus(engine.pool, run))?.known ?? [];
    expect([known.length, known.includes('service.served.submit here')]).toEqual([201, true]);
  });

  it('are written again where the engine rejected them', async () => {
    const run = await engine.run();
    let isAway = true;
    const query: EnginePool['query'] = (...asked) =>
      isAway ? Promise.reject(new Error('away')) : engine.pool.query(...asked);
    const worker = workerOf(run, { pool: { ...engine.pool, query } });
    worker.known.served.add('submit');
    await worker.known.stop();
    expect((await runStatus(engine.pool, run))?.known).toEqual([]);
    isAway = false;
    await worker.look();
    await worker.known.stop();
    expect((await runStatus(engine.pool, run))?.known).toEqual(['service.served.submit here']);
  });
});
