import { describe, expect, it } from 'vitest';
import type { RunInput } from '../../../../src/run/scheduler/commit.ts';
import { withinPatience } from '../../../../src/run/scheduler/routes/asked-wait.ts';
import { failure } from '../../../rig/failure.ts';
import { epoch } from '../../../rig/jobs.ts';
import { textReply } from '../../../rig/text-reply.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { grid, world } from '../../../rig/world.ts';

const minute = 60_000;
const hour = 60 * minute;
const impatient = virtualSettings({ retry: { ...virtualSettings().retry, patienceMs: 5 * minute } });
const later = (kind: 'throttle' | 'retry', status: number) =>
  failure(`service.${kind}`, kind, { status, retryAfterMs: hour });

describe('a Retry-After beyond retry.patience', () => {
  it.each([
    ['429', later('throttle', 429)],
    ['503', later('retry', 503)],
  ])('of every submission (%s) stops the run when the patience is at its end', async (_, error) => {
    const here = await world(grid(4), { onSubmit: () => ({ error }) });
    const { end, endedAt } = here.run({ settings: impatient });
    expect(end).toMatchObject({ kind: 'stopped', code: 'route.patience' });
    expect(endedAt - epoch).toBeGreaterThanOrEqual(5 * minute);
    expect(endedAt - epoch).toBeLessThan(15 * minute);
    expect(here.statuses()).toEqual({ pending: 4 });
  });

  it('of one request is waited for no longer than that, and the run ends well', async () => {
    let refused = 0;
    const once = (at: number): boolean => at - epoch < minute && refused++ < 1;
    const here = await world(grid(4), {
      onSubmit: ({ at }) => (once(at) ? { error: later('throttle', 429) } : undefined),
    });
    const { end, endedAt } = here.run({ settings: impatient });
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 4 }]);
    expect(refused).toBeGreaterThan(0);
    expect(endedAt - epoch).toBeLessThan(15 * minute);
  });

  it('is as long as it says where that is shorter', async () => {
    let refused = 0;
    const here = await world(grid(1), {
      onSubmit: () => (refused++ === 0 ? { error: later('throttle', 429) } : undefined),
    });
    const patient = virtualSettings({ retry: { ...virtualSettings().retry, patienceMs: 2 * hour } });
    const { end, endedAt } = here.run({ settings: patient });
    expect(end).toEqual({ kind: 'complete' });
    expect(endedAt - epoch).toBeGreaterThanOrEqual(hour);
  });
});

it('the wait of every kind of result is cut, and nothing else in it changes', () => {
  const error = { code: 'x', class: 'throttle', message: 'm', retryAfterMs: hour } as const;
  const file = { code: 'x', class: 'retry', message: 'm', retryAfterMs: hour } as const;
  const result = { ok: false, error } as const;
  const inputs = [
    { type: 'submitted', key: 'k', result },
    { type: 'fetched', key: 'k', why: 'poll', result },
    { type: 'searched', key: 'k', result },
    { type: 'listed', looks: [], result },
    { type: 'saved', key: 'k', result: { ok: false, error: file } },
    { type: 'asked', key: 'k', result: { kind: 'refused', error } },
    { type: 'asked', key: 'k', result: { kind: 'unread', error: file } },
    { type: 'asked', key: 'k', result: { kind: 'unwritten', error: file, text: { candidates: [] } } },
    { type: 'unread', key: 'k', error: file },
    { type: 'masked', key: 'k', error: file },
  ] as unknown as readonly RunInput[];
  const waits = (input: RunInput): string => JSON.stringify(input);
  for (const input of inputs) {
    const cut = waits(input).replace(`"retryAfterMs":${hour}`, '"retryAfterMs":1000');
    expect(waits(withinPatience(input, 1000))).toBe(cut);
    expect(withinPatience(input, hour)).toEqual(input);
  }
  const good = {
    type: 'asked',
    key: 'k',
    result: { kind: 'answered', asked: textReply({}) },
  } as unknown as RunInput;
  expect(withinPatience(good, 0)).toBe(good);
  expect(withinPatience({ type: 'masked', key: 'k' }, 0)).toEqual({ type: 'masked', key: 'k' });
});
