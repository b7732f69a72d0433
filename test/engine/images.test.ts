import { afterAll, beforeAll, expect, it } from 'vitest';
import { SharedImages } from '../../src/engine/images.ts';
import type { ImageFiles } from '../../src/plan/request/image-files.ts';
import { hasPostgres } from '../rig/postgres.ts';
import { type TestEngine, testEngine } from './state/opened.ts';

let engine: TestEngine;
beforeAll(async () => {
  if (hasPostgres) engine = await testEngine();
});
afterAll(async () => {
  if (hasPostgres) await engine[Symbol.asyncDispose]();
});

const filesOf = (sha256: string): ImageFiles => ({ facts: () => ({ sha256, bytes: 1 }) });

it.runIf(hasPostgres)(
  'a file that is another one on this machine is an error there, until the next invocation',
  async () => {
    const run = await engine.run();
    const worker = (sha256: string, invocation: number): SharedImages => {
      const images = new SharedImages(filesOf(sha256), engine.pool, run);
      images.begin(invocation);
      return images;
    };
    const first = worker('aa', 1);
    expect(first.facts('a.png')).toEqual({ sha256: 'aa', bytes: 1 });
    expect(await first.loadMissed()).toBe(false);

    const second = worker('bb', 1);
    expect(second.facts('a.png')).toEqual({ sha256: 'bb', bytes: 1 });
    expect(await second.loadMissed()).toBe(true);
    expect(second.facts('a.png')).toMatchObject({ error: { code: 'input.differs' } });
    expect(await second.loadMissed()).toBe(false);

    const next = worker('bb', 2);
    next.facts('a.png');
    expect(await next.loadMissed()).toBe(false);
    expect(next.facts('a.png')).toEqual({ sha256: 'bb', bytes: 1 });
  },
);
