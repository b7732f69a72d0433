import { describe, expect, test } from 'vitest';
import { Scene } from '../scene.ts';
import { button } from '../simulated-state.ts';

describe('wildcards', () => {
  const text = `
    steps:
      grid: { imagine: a fox, path: "U* → V1" }
      literal: { from: grid, click: U2 }
      all: { from: grid/**, click: reroll }`;

  test('one slot before, one per button after, each the job that its label names', async () => {
    const scene = await Scene.of(text);
    expect(scene.lines()).toEqual([
      'grid pending!',
      'grid/U* pending',
      'grid/U*/V1 pending',
      'literal/U2 pending',
      'all/U*/V1/reroll pending',
    ]);
    expect(scene.slots().map(({ job }) => job === undefined)).toEqual([false, true, true, false, true]);
    expect(scene.plan.hasWildcards).toBe(true);

    scene.state.done(scene.at('grid'), [button('U1'), button('U2'), button('V1'), button('', '🔄')]);
    expect(scene.lines()).toEqual([
      'grid done',
      'grid/U1 pending!',
      'grid/U1/V1 pending',
      'grid/U2 pending!',
      'grid/U2/V1 pending',
      'literal/U2 pending!',
      'all/U1/V1/reroll pending',
      'all/U2/V1/reroll pending',
    ]);
    expect(scene.at('grid/U2').job).toEqual(scene.at('literal/U2').job);
    const named = await Scene.of('steps: { grid: { imagine: a fox, path: U2 } }');
    expect(scene.at('grid/U2').job).toEqual(named.at('grid/U2').job);
    expect(scene.at('grid/U2').id).toBe(named.at('grid/U2').id);
  });

  test('buttons without a label are not among them; their names are normalised', async () => {
    const scene = await Scene.of('steps: { grid: { imagine: a fox, path: "V*" } }');
    scene.state.done(scene.at('grid'), [button('', '🔄'), button('Vary  (Strong) ')]);
    expect(scene.lines()).toEqual(['grid done', 'grid/Vary (Strong) pending!']);
    expect(scene.at('grid/Vary (Strong)').job?.request).toMatchObject({
      press: [{ text: 'Vary  (Strong)' }],
    });
  });

  test('no match fails without a job and says what there is, or is skipped when optional', async () => {
    const failing = await Scene.of('steps: { grid: { imagine: a fox, path: "X* → V1" } }');
    failing.done('grid');
    expect(failing.lines()).toEqual(['grid done', 'grid/X* failed', 'grid/X*/V1 blocked']);
    expect(failing.at('grid/X*').error?.code).toBe('button.missing');
    expect(failing.at('grid/X*').error?.message).toMatch(/"X\*".*U1.*V4/s);
    expect(failing.at('grid/X*').job).toBeUndefined();

    const optional = await Scene.of('steps: { grid: { imagine: a fox, path: "X*? → V1" } }');
    optional.done('grid');
    expect(optional.lines()).toEqual(['grid done', 'grid/X* skipped', 'grid/X*/V1 skipped']);
  });

  test('below a failure it is blocked, when its step is off it is skipped', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox }
        a: { from: grid, click: U* }
        b: { from: grid, click: U*, when: repeat == 2 }`);
    scene.state.fail(scene.at('grid'));
    expect(scene.lines()).toEqual(['grid failed', 'a/U* blocked', 'b/U* skipped']);
  });

  test('an address may name a branch that a wildcard makes: the literal job, if it turns out to be there', async () => {
    const text = `
      steps:
        grid: { imagine: a fox, path: "U* → V1,V2" }
        a: { from: grid/U1, click: X }
        b: { from: grid/U1/V2, click: Y }
        c: { from: grid/U9/**, click: Z }`;
    const scene = await Scene.of(text);
    const before = [
      'grid pending!',
      'grid/U* pending',
      'grid/U*/V1 pending',
      'grid/U*/V2 pending',
      'a/U1/X pending',
      'b/U1/V2/Y pending',
      'c/U9/V1/Z pending',
      'c/U9/V2/Z pending',
    ];
    expect(scene.lines()).toEqual(before);
    expect(scene.plan.slotsPerCell).toBe(before.length);
    const key = scene.at('b/U1/V2/Y').job?.key;
    expect(key).toBeDefined();

    scene.state.done(scene.at('grid'), [button('U1'), button('U2')]);
    scene.done('grid/U1', 'grid/U1/V2');
    expect(scene.lines()).toEqual([
      'grid done',
      'grid/U1 done',
      'grid/U1/V1 pending!',
      'grid/U1/V2 done',
      'grid/U2 pending!',
      'grid/U2/V1 pending',
      'grid/U2/V2 pending',
      'a/U1/X pending!',
      'b/U1/V2/Y pending!',
      'c/U9/V1/Z blocked',
      'c/U9/V2/Z blocked',
    ]);
    expect(scene.at('b/U1/V2/Y').job?.key).toBe(key);
    expect(scene.at('c/U9/V1/Z').error?.message).toBe('blocked by grid/U9: button.missing');
  });

  test('depth first also where a wildcard lies between', async () => {
    const scene = await Scene.of(`
      steps:
        grid: { imagine: a fox, path: "U* → X,Y" }
        a: { from: grid/**, click: V1, path: Z }`);
    scene.state.done(scene.at('grid'), [button('U1'), button('U2')]);
    expect(scene.lines().filter((text) => text.startsWith('a/'))).toEqual([
      'a/U1/X/V1 pending',
      'a/U1/X/V1/Z pending',
      'a/U1/Y/V1 pending',
      'a/U1/Y/V1/Z pending',
      'a/U2/X/V1 pending',
      'a/U2/X/V1/Z pending',
      'a/U2/Y/V1 pending',
      'a/U2/Y/V1/Z pending',
    ]);
  });
});
