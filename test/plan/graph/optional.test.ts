import { describe, expect, test } from 'vitest';
import { isSkipped, neverOptional, optionalIn } from '../../../src/plan/graph/optional.ts';
import { planOf } from '../../rig/pipeline-builder.ts';

const optionalOf = async (steps: string) => optionalIn((await planOf(`{ steps: { ${steps} } }`)).slotGraph);

const picks = (from: string): string =>
  `w: { imagine: a, path: "U* → V*" }, s: { from: ${from}, generate: { model: m, prompt: s } }, b: { best: { from: ${from}, by: "{{ steps.s.text }}", over: all } }, p: { from: b, click: "U1?" }`;

describe('whether a button is optional is known by its step and branch', () => {
  test.each<readonly [string, string, string, boolean]>([
    ['g: { imagine: a, path: "U1?, U2" }', 'g', 'U1', true],
    ['g: { imagine: a, path: "U1?, U2" }', 'g', 'U2', false],
    ['g: { imagine: a, path: "U1?, U2" }', 'g', '', false],
    ['g: { imagine: a, path: "U1?, U2?" }', 'g', 'U1', true],
    ['g: { imagine: a, path: "U1?, U2?" }', 'g', 'U2', true],
    ['g: { imagine: a, path: "U1?" }, h: { imagine: b, path: U1 }', 'h', 'U1', false],
    ['g: { imagine: a, path: "U1 → V1?" }', 'g', 'U1', false],
    ['g: { imagine: a, path: "U1 → V1?" }', 'g', 'V1', false],
    ['g: { imagine: a, path: "U1 → V1?" }', 'g', 'U1/V1', true],
    ['g: { imagine: a, path: "U1 → V1?" }', 'g', 'U1/V1/V1', false],
    ['g: { imagine: a, path: "U1 → V1? → W1" }', 'g', 'U1/V1/W1', false],
    ['g: { imagine: a, path: "Zoom (x/y)? → V1" }', 'g', '"Zoom (x/y)"', true],
    ['g: { imagine: a, path: "Zoom (x/y) → V1?" }', 'g', '"Zoom (x/y)"/V1', true],
    ['g: { imagine: a, path: U1 }, b: { from: g/U1, click: "V1?" }', 'b', 'U1/V1', true],
    ['g: { imagine: a, path: U1 }, b: { from: g/U1, click: "V1?" }', 'b', 'V1', false],
    ['g: { imagine: a, path: "U* → V1?" }', 'g', 'U3/V1', true],
    ['g: { imagine: a, path: "U* → V1?" }', 'g', 'U3/V2', false],
    ['g: { imagine: a, path: "U* → V1?" }', 'g', 'U3', false],
    ['g: { imagine: a, path: "U* → V1?" }', 'g', '/V1', false],
    ['g: { imagine: a, path: "U1 → V*?" }', 'g', 'U1/V4', true],
    ['g: { imagine: a, path: "U1 → V*?" }', 'g', 'U1/', false],
    ['g: { imagine: a, path: "U1 → V*?" }', 'g', 'U2/V4', false],
    ['g: { imagine: a, path: "U* → A → V* → B?" }', 'g', 'U1/A/V1/B', true],
    ['g: { imagine: a, path: "U* → A → V* → B?" }', 'g', 'U1/C/V1/B', false],
    ['g: { imagine: a, path: "U* → A → V* → B?" }', 'g', 'U1/A/B', false],
    ['g: { imagine: a, path: "U* → A → V* → B?" }', 'g', 'U1/A//B', false],
    ['g: { imagine: a, path: "U* → A → V* → B?" }', 'g', '/A/V1/B', false],
    ['g: { imagine: a, path: "U* → A → V* → A → W*?" }', 'g', 'U1/A/V1/A/W1', true],
    ['g: { imagine: a, path: "U* → A → V* → A → W*?" }', 'g', 'U1/A/V1', false],
    ['g: { imagine: a, path: "U* → V*? → B" }', 'g', 'U1/V1', true],
    ['g: { imagine: a, path: "U* → V*?" }', 'g', 'U1', false],
    [picks('w/*'), 'p', '1/U1', true],
    [picks('w/*'), 'p', '7/U1', false],
    [picks('w/U1/V2'), 'p', '1/U1', true],
  ])('{ %s }: %s %j is %s', async (steps, step, branch, expected) => {
    expect((await optionalOf(steps))({ step, branch })).toBe(expected);
  });

  test('is false for a step that the pipeline does not have', async () => {
    expect((await optionalOf('g: { imagine: a, path: "U1?" }'))({ step: 'old', branch: 'U1' })).toBe(false);
    expect(neverOptional({ step: 'g', branch: 'U1' })).toBe(false);
  });
});

test('a job is skipped only if it failed because of a missing optional button', () => {
  const origin = { cell: 1, step: 'g', branch: 'U1', slot: 's' };
  const missing = { code: 'button.missing' as const, message: '' };
  const always = () => true;
  expect(isSkipped({ status: 'failed', error: missing, origin }, always)).toBe(true);
  expect(isSkipped({ status: 'failed', error: missing, origin }, neverOptional)).toBe(false);
  expect(isSkipped({ status: 'pending', error: missing, origin }, always)).toBe(false);
  expect(isSkipped({ status: 'failed', error: { ...missing, code: 'task.failed' }, origin }, always)).toBe(
    false,
  );
  expect(isSkipped({ status: 'failed', origin }, always)).toBe(false);
  expect(isSkipped({ status: 'failed', error: missing, origin }, ({ branch }) => branch === 'U2')).toBe(
    false,
  );
});
