import { describe, expect, it } from 'vitest';
import type { SaveResult } from '../../src/artifacts/writer.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { world } from '../rig/world.ts';

const gone: SaveResult = {
  ok: false,
  error: { code: 'download.refused', class: 'fresh-link', message: 'It is gone.' },
};
const pipeline = (keep: boolean, more = ''): string => `name: t
steps:
  grid: { imagine: a fox, keep: ${keep}${more} }
`;

/** A grid whose image was not wanted, and is gone from the service when it is. */
async function lost(more = '') {
  let first: string | undefined;
  const onSave = (key: string, saves: number): SaveResult | undefined => {
    first ??= key;
    return key === first && saves <= 6 ? gone : undefined;
  };
  const here = await world(pipeline(false), { onSave });
  expect([here.run().end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 1 }]);
  const kept = await here.edited(pipeline(true, more));
  kept.run();
  return kept;
}

describe('an image that is requested later, and is no longer on the service', () => {
  it('fails its slot, and not the clicks on it', async () => {
    const here = await lost(', path: "U1..U2"');
    expect(here.statuses()).toEqual({ failed: 1, done: 2 });
    expect(here.run().submits).toBe(0);
  });

  it('fails its slot, and not the slots of a wildcard below it', async () => {
    const here = await lost(', path: "U*"');
    expect(here.statuses()).toEqual({ failed: 1, done: 4 });
  });

  it('is not a failure once no slot wants it', async () => {
    const here = await (await lost()).edited(pipeline(false, ', path: U1'));
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 2 });
    expect(here.run({ settings: virtualSettings({ retryFailed: {} }) }).submits).toBe(0);
  });

  it('is downloaded by --retry-failed without a submission', async () => {
    const here = await lost();
    expect(here.statuses()).toEqual({ failed: 1 });
    expect(here.run({ settings: virtualSettings({ retryFailed: {} }) }).submits).toBe(0);
    expect(here.statuses()).toEqual({ done: 1 });
  });

  it('blocks the jobs that show it, including one with a mask', async () => {
    const here = await world(pipeline(false), { onSave: () => gone });
    here.run();
    const shown =
      await here.edited(`${pipeline(true)}  again: { from: grid, imagine: { prompt: b, images: [parent] } }
  hat:
    from: grid
    click: V1
    prompt: a hat
    mask: { shapes: [{ rectangle: [0, 0, 1, 1] }] }
`);
    shown.run();
    expect(shown.statuses()).toEqual({ failed: 1, blocked: 2 });
  });
});
