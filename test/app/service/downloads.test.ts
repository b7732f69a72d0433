import { describe, expect, it } from 'vitest';
import { Disposables } from '../../../src/app/adapters/disposables.ts';
import { followedAt, linkOptions } from '../../../src/app/service/downloads.ts';
import type { ArtifactWriter } from '../../../src/artifacts/writer.ts';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { cutNowhere } from '../../rig/frames.ts';

/** A writer that only notes which links it is asked to follow. */
function noting(): {
  readonly writer: ArtifactWriter;
  readonly links: string[];
  readonly closed: () => boolean;
} {
  const links: string[] = [];
  let closed = false;
  const writer: ArtifactWriter = {
    save: ({ url }) => {
      links.push(url);
      return Promise.resolve({ ok: false, error: { code: 'download.status', class: 'retry', message: '' } });
    },
    cut: cutNowhere,
    keep: () => Promise.reject(new Error('nothing is kept here')),
    close: () => {
      closed = true;
      return Promise.resolve();
    },
  };
  return { writer, links, closed: () => closed };
}

it('a download may take ten minutes, or as long as a request if that may take longer', () => {
  const totalOf = (requestMs: number): unknown => {
    const mask = String;
    const to = { baseUrl: 'https://x.test', requestMs, mask, dataMask: mask, clock: wallClock };
    return linkOptions(to, { connections: 1, connectMs: 1 }, new Disposables()).timeouts;
  };
  expect(totalOf(30_000)).toEqual({ idleMs: 30_000, totalMs: 600_000 });
  expect(totalOf(1_200_000)).toEqual({ idleMs: 1_200_000, totalMs: 1_200_000 });
});

describe('links of a sandbox that was started again', () => {
  it.each([
    ['http://127.0.0.1:40001/img/image/7?ex=9', 'http://127.0.0.1:40002/img/image/7?ex=9'],
    ['http://127.0.0.1:40002/img/image/7', 'http://127.0.0.1:40002/img/image/7'],
    ['no link', 'no link'],
  ])('%s is followed at %s', async (link, followed) => {
    const { writer, links, closed } = noting();
    const moved = followedAt('http://127.0.0.1:40002', writer);
    const result = await moved.save({ url: link, key: 'k', output: 1 }, new AbortController().signal);
    expect(result).toMatchObject({ ok: false, error: { code: 'download.status' } });
    expect(links).toEqual([followed]);
    await moved.close();
    expect(closed()).toBe(true);
  });
});
