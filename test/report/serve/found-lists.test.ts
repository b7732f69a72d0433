import { describe, expect, it } from 'vitest';
import { FoundLists } from '../../../src/report/serve/index/found-lists.ts';

const never = new AbortController().signal;

describe('lists of query results', () => {
  it('say when a newer list is available if they are used after a change', async () => {
    let [now, version, searches] = [0, 1, 0];
    const lists = new FoundLists(() => now);
    const ask = () =>
      lists.of(
        'owl',
        () => version,
        () => {
          searches += 1;
          now += 100;
          return Promise.resolve(Float64Array.of(searches));
        },
        never,
      );
    expect(await ask()).toEqual({ ids: Float64Array.of(1) });
    expect(await ask()).toEqual({ ids: Float64Array.of(1) });
    version = 2;
    now += 400;
    expect(await ask()).toEqual({ ids: Float64Array.of(1), again: 600 });
    now += 600;
    expect(await ask()).toEqual({ ids: Float64Array.of(2) });
    expect(searches).toBe(2);
  });

  it('say so also to requests that came during the search', async () => {
    let version = 1;
    let end = (): void => {};
    const lists = new FoundLists(() => 0);
    const ask = () =>
      lists.of(
        'owl',
        () => version,
        () =>
          new Promise<Float64Array>((resolve) => {
            end = () => resolve(Float64Array.of(1));
          }),
        never,
      );
    const first = ask();
    await Promise.resolve();
    version = 2;
    const second = ask();
    end();
    for (const found of [first, second]) expect(await found).toEqual({ ids: Float64Array.of(1), again: 0 });
  });
});
