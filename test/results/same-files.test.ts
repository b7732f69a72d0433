import { describe, expect, it } from 'vitest';
import { SameFiles } from '../../src/results/same-files.ts';

const job = (key: string, ...contents: string[]) => ({
  key,
  artifacts: contents.map((sha256, at) => ({
    output: at + 1,
    file: `images/${key}-${at + 1}.png`,
    bytes: 1,
    sha256,
    mime: 'image/png',
  })),
});

const added = (...jobs: readonly ReturnType<typeof job>[]) => {
  const same = new SameFiles();
  for (const each of jobs) same.add(each);
  return same.result();
};

describe('files with the same bytes', () => {
  it('are counted by job, with the most common content as an example', () => {
    expect(
      added(job('a', 'x'), job('b', 'y'), job('c', 'x'), job('d', 'z'), job('e', 'z'), job('f', 'x')),
    ).toEqual({
      jobs: 5,
      contents: 2,
      example: { jobs: 3, file: 'images/c-1.png', first: 'a', second: 'c' },
    });
  });

  it('count a job once, even if only one of its files is a repeat', () => {
    expect(added(job('a', 'x'), job('b', 'x', 'y'), job('c', 'y'))).toMatchObject({ jobs: 3, contents: 2 });
    expect(added(job('a', 'x', 'y'), job('b', 'x', 'y'))).toMatchObject({ jobs: 2, contents: 2 });
  });

  it('are not found within one job, nor if all differ', () => {
    expect(added(job('a', 'x', 'x', 'x'), job('b', 'y', 'y'))).toBeUndefined();
    expect(added(job('a'), job('b'))).toBeUndefined();
  });

  it('are found among very many files, in bounded memory, if they come again and again', () => {
    const same = new SameFiles();
    for (let n = 0; n < 100_000; n += 1) same.add(job(`j${n}`, n % 5000 === 0 ? 'removed' : `s${n}`));
    expect(same.result()).toMatchObject({ jobs: 20, contents: 1, example: { jobs: 20, first: 'j0' } });
  });

  it('are found among the last 32,768 contents, from the last time each was seen', () => {
    const same = new SameFiles();
    let others = 0;
    const add = (count: number): void => {
      for (const end = others + count; others < end; others += 1) same.add(job(`j${others}`, `s${others}`));
    };
    same.add(job('a', 'x'));
    for (const key of ['b', 'c']) {
      add(32_767);
      same.add(job(key, 'x'));
    }
    add(32_768);
    same.add(job('d', 'x'));
    expect(same.result()).toMatchObject({ jobs: 3, contents: 1, example: { first: 'a', second: 'b' } });
  });
});
