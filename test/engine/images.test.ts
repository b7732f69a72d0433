import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SharedImages } from '../../src/engine/images.ts';
import { noteLacks } from '../../src/engine/slices/lacks.ts';
import type { ImageFile } from '../../src/plan/request/image-files.ts';
import { hasPostgres } from '../rig/postgres.ts';
import { type TestEngine, testEngine } from './state/opened.ts';

describe.runIf(hasPostgres)('the image files of a run on an engine', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  const file = (sha256: string): ImageFile => ({ sha256, bytes: 1 });
  const absent: ImageFile = { error: { code: 'input.missing', message: 'It is not there.' } };

  /** A process that leads a run, or works on it, with these files. */
  function process(run: number, own: ImageFile, { leads = false, invocation = 1 } = {}): SharedImages {
    const images = new SharedImages({ facts: () => own }, engine.pool, run, leads);
    images.begin(invocation);
    return images;
  }
  const read = async (images: SharedImages, path = 'a.png'): Promise<ImageFile | 'unread'> => {
    images.facts(path);
    await images.loadMissed();
    return images.facts(path);
  };

  it('are described by the coordinator, and unread where a worker has other content, anew in each invocation', async () => {
    const run = await engine.run();
    expect(await read(process(run, file('aa'), { leads: true }))).toEqual(file('aa'));
    expect(await read(process(run, file('aa')))).toEqual(file('aa'));
    const other = process(run, file('bb'));
    expect(await read(other)).toBe('unread');
    expect(other.takeUnread()).toEqual([{ path: 'a.png', sha256: 'aa' }]);
    expect(await other.loadMissed()).toBe(false);
    // A coordinator that goes on with the invocation does not change what was paid for with the file.
    const later = process(run, file('bb'), { leads: true });
    expect(await read(later)).toBe('unread');
    later.end();
    expect(later.facts('a.png')).toEqual(file('aa'));

    const next = { invocation: 2 };
    expect(await read(process(run, file('bb'), { leads: true, ...next }))).toEqual(file('bb'));
    expect(await read(process(run, file('bb'), next))).toEqual(file('bb'));
  });

  it('cannot be used by any worker where the coordinator cannot use them', async () => {
    const run = await engine.run();
    expect(await read(process(run, absent, { leads: true }))).toEqual(absent);
    expect(await read(process(run, file('aa')))).toEqual(absent);
  });

  it('are requested by workers where only a reply names them, and described only by the coordinator', async () => {
    const run = await engine.run(1);
    const lead = process(run, file('aa'), { leads: true });
    const [first, second] = [process(run, file('bb')), process(run, file('aa'))];
    for (const worker of [first, second]) {
      expect(await read(worker, 'reply.png')).toBe('unread');
      expect(worker.takeUnread()).toEqual([{ path: 'reply.png', sha256: '' }]);
    }
    const { session } = await engine.worker(run);
    await noteLacks(engine.pool, run, session, 1, [{ path: 'reply.png', sha256: '' }]);
    await lead.serve(() => Promise.reject(new Error('Nothing is to be copied before it is lacked.')));
    for (const worker of [first, second]) worker.forget('reply.png');
    expect(await read(second, 'reply.png')).toEqual(file('aa'));
    expect(await read(first, 'reply.png')).toBe('unread');
  });

  it('are copied once for workers that lack them, never with other content', async () => {
    const run = await engine.run(1);
    const lead = process(run, file('aa'), { leads: true });
    await read(lead);
    const worker = process(run, absent);
    expect(await read(worker)).toBe('unread');
    const { session } = await engine.worker(run);
    const copied: unknown[] = [];
    const copy = (one: unknown): Promise<boolean> => {
      copied.push(one);
      return Promise.resolve(true);
    };
    await lead.serve(copy);
    expect(copied).toEqual([]);
    await noteLacks(engine.pool, run, session, 1, worker.takeUnread());
    await process(run, file('bb'), { leads: true }).serve(copy);
    expect(copied).toEqual([]);
    await lead.serve(copy);
    await lead.serve(copy);
    expect(copied).toEqual([{ path: 'a.png', sha256: 'aa', bytes: 1 }]);
    worker.forget('a.png');
    expect(await read(worker)).toEqual(file('aa'));
  });

  it.each([
    ['too long for a row', `${'é'.repeat(600)}.png`],
    ['what no file has', 'a\0b.png'],
  ])('have no path that is %s', async (_words, path) => {
    const run = await engine.run();
    const images = process(run, file('aa'));
    expect(images.facts(path)).toMatchObject({ error: { code: 'input.missing' } });
    expect(await images.loadMissed()).toBe(false);
  });
});
