import { describe, expect, it } from 'vitest';
import { runExitCode } from '../../../../src/app/run/exit-code.ts';
import { failure } from '../../../rig/failure.ts';
import type { GatewayScript } from '../../../rig/gateway/scripted-gateway.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { grid, type World, world } from '../../../rig/world.ts';

const settings = virtualSettings({ limits: { tasks: 3, requests: 8 } });
const submitted = ({ service }: World): readonly string[] => service.submits.map(({ pressed }) => pressed);
const gridsOf = (here: World): number => submitted(here).filter((pressed) => pressed === '').length;

describe('a click that never works', () => {
  it('ends the run when it has failed 20 times, before all grids are paid', async () => {
    const here = await world(grid(500, 'U1 → U5'));
    const { end } = here.run({ settings });
    expect(end).toMatchObject({ kind: 'stopped', code: 'click.never-works' });
    expect(end && runExitCode(end, undefined, undefined)).toBe(3);
    const message = end?.kind === 'stopped' ? end.message : '';
    for (const word of ['grid/U1/U5', 'button.missing', 'Upscale (Subtle)', 'A | B', '20 times'])
      expect(message).toContain(word);
    // What is in flight is finished: no task is left, and none is begun after the 20th failure.
    expect(here.store.unfinished()).toEqual([]);
    expect(gridsOf(here)).toBeLessThanOrEqual(20 + 2 * 3);
    const { done = 0, failed = 0, pending = 0, blocked = 0 } = here.statuses();
    expect(done + failed + pending + blocked).toBe(1500);
    expect(failed).toBeGreaterThanOrEqual(20);
  });

  it.each<[string, string, GatewayScript]>([['is there several times', '/upsample/', {}]])(
    'also ends the run where its button %s',
    async (_what, path, script) => {
      const here = await world(grid(200, path), script);
      expect(here.run({ settings }).end).toMatchObject({ kind: 'stopped', code: 'click.never-works' });
      expect(gridsOf(here)).toBeLessThan(60);
    },
  );

  it('does not count where it works in other cells, in this run or an earlier one', async () => {
    const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = {
      onSubmit: ({ pressed, number }) =>
        pressed === '/U1' && number > 10
          ? {
              error: failure('service.rejected', 'permanent', {
                status: 403,
                message: `No ${'abcdefghij'.at(number % 10)}`,
              }),
            }
          : undefined,
    };
    const here = await world(grid(60, 'U1'), script);
    expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
    expect(here.statuses().failed).toBeGreaterThan(40);
    expect(here.run({ settings: virtualSettings({ ...settings, retryFailed: {} }) }).end).toEqual({
      kind: 'complete',
    });
  });

  it('does not count a retried click, whose grid is paid, so that later cells have their turn', async () => {
    let isRetry = false;
    const here = await world(grid(60, 'U1'), {
      onSubmit: ({ pressed, prompt, number }) => {
        const cell = Number(prompt.replace('picture ', ''));
        if (pressed !== '/U1' || cell > 25) return undefined;
        const message = isRetry || cell % 2 === 0 ? 'Not allowed' : 'Not now';
        return {
          error: failure('service.rejected', 'permanent', {
            status: 403,
            message: `${message} ${'abcdefghij'.at(number % 10)}`,
          }),
        };
      },
    });
    expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 95, failed: 25 });
    isRetry = true;
    const retry = virtualSettings({ ...settings, retryFailed: {} });
    expect(here.run({ settings: retry }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 95, failed: 25 });
  });

  it('is counted by branch and by reason, and not at all where it is optional', async () => {
    const optional = await world(grid(100, 'U5? → U1'));
    expect(optional.run({ settings }).end).toEqual({ kind: 'complete' });
    const few = await world(grid(19, 'U5,U6'));
    expect(few.run({ settings }).end).toEqual({ kind: 'complete' });
    const reasons = await world(grid(90, 'U1'), {
      onSubmit: ({ pressed, number }) =>
        pressed === '/U1'
          ? {
              error: failure('service.rejected', 'permanent', {
                status: 403,
                message: `Not ${'abcdefghij'.at(number % 10)} like this`,
              }),
            }
          : undefined,
    });
    expect(reasons.run({ settings }).end).toEqual({ kind: 'complete' });
    expect(reasons.statuses()).toEqual({ done: 90, failed: 90 });
  });
});
