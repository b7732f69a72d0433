import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { quickHead, useRunFolder } from './run-folder.ts';

useQuickSandbox();

const folder = useRunFolder();
const { run, say, rowsOf } = folder;

/** A picture of each item, its upscale, and a caption that reads the item: three jobs an item. */
const write = (scenes: readonly string[], name = 'scenes'): Promise<void> =>
  writeFile(
    join(folder.cwd, `${name}.yaml`),
    `name: ${name}
matrix: { scenes: [[${scenes.join(', ')}]] }
${quickHead}steps:
  draw: { each: "{{ scenes }}", imagine: "a {{ item }}", path: U1 }
  caption: { from: draw/U1, generate: { model: text-pro, prompt: "Caption {{ item }}.", images: [parent] } }
`,
  );

/** The tasks of the pictures, by branch. */
const drawn = async (directory = 'a'): Promise<readonly string[]> =>
  (await rowsOf(directory)).flatMap(({ step, branch, task_id: task = '' }) =>
    step === 'draw' && branch?.endsWith(']') ? [task] : [],
  );

describe('a list whose items are jobs', () => {
  it('submits equal items once, an edited item alone, and nothing where items change places', async () => {
    await write(['fox', 'owl', 'owl', 'elk']);
    expect((await run('scenes.yaml', 'a')).submits).toBe(9);
    const [fox, owl, same, elk] = await drawn();
    expect(same).toBe(owl);
    expect(new Set([fox, owl, elk]).size).toBe(3);

    await write(['fox', 'newt', 'owl', 'elk']);
    expect((await run('scenes.yaml', 'a')).submits).toBe(3);
    const [, newt] = await drawn();
    expect(await drawn()).toEqual([fox, newt, owl, elk]);

    await write(['elk', 'newt', 'fox', 'owl', 'fox']);
    expect((await run('scenes.yaml', 'a')).submits).toBe(0);
    expect(await drawn()).toEqual([elk, newt, fox, owl, fox]);
    expect((await say('verify', 'a')).code).toBe(0);
  });

  it('has one item made anew with what came from it (--redo), at each place where it stands', async () => {
    await write(['fox', 'owl', 'owl', 'elk']);
    await run('scenes.yaml', 'a');
    const before = await drawn();
    const job = (await rowsOf('a')).find(({ branch }) => branch === '[2]')?.['job'] ?? '';
    expect((await run('scenes.yaml', 'a', '--redo', job)).submits).toBe(3);
    const [fox, owl, same, elk] = await drawn();
    expect([fox, elk]).toEqual([before[0], before[3]]);
    expect(owl).not.toBe(before[1]);
    expect(same).toBe(owl);
    expect((await run('scenes.yaml', 'a')).submits).toBe(0);
  });

  it('closes the order of an item that has left its list, once the whole plan is done', async () => {
    await write(['fox', 'owl']);
    await run('scenes.yaml', 'a');
    const job = (await rowsOf('a')).find(({ branch }) => branch === '[2]')?.['job'] ?? '';
    await write(['fox', 'elk']);
    const part = await run('scenes.yaml', 'a', '--only', 'draw', '--redo', job);
    expect([part.submits, part.said.err]).toEqual([2, expect.not.stringContaining('is closed')]);
    const { said, ...whole } = await run('scenes.yaml', 'a');
    expect(whole).toMatchObject({ submits: 1 });
    expect(whole).not.toHaveProperty('redo');
    expect(said.err).toContain(
      'Redo: 1 job is not part of the plan any more, and is not made anew; the order is closed.',
    );
    expect((await run('scenes.yaml', 'a')).said.err).not.toContain('Redo:');
  });

  it('is taken over item by item (--reuse), wherever an item stands now', async () => {
    await write(['fox', 'owl', 'elk']);
    await run('scenes.yaml', 'a');
    const [fox, owl, elk] = await drawn();
    await write(['elk', 'newt', 'owl', 'elk', 'fox'], 'other');
    const planned = await say('plan', 'other.yaml', '--out', 'b', '--reuse', 'a', '--json');
    expect(JSON.parse(planned.out)).toMatchObject({ total: { submits: 3, done: 9 }, reuse: { jobs: 9 } });
    expect((await run('other.yaml', 'b', '--reuse', 'a')).submits).toBe(3);
    const [, newt] = await drawn('b');
    expect(await drawn('b')).toEqual([elk, newt, owl, elk, fox]);
    const paid = (await rowsOf('b')).filter(({ reused_from }) => reused_from === '');
    expect(new Set(paid.map(({ branch }) => branch))).toEqual(new Set(['[2]', '[2]/U1']));
  });
});

it('a run of a part of the cells says which groups wait for those that its flags left out', async () => {
  await writeFile(
    join(folder.cwd, 'words.yaml'),
    `name: words
matrix: { animal: [fox, owl], seed: [1, 2] }
${quickHead}steps:
  line: { chat: { model: text-pro, prompt: "a line about a {{ animal }} {{ seed }}" } }
  wrap: { gather: { step: line, over: [seed] }, chat: { model: text-pro, prompt: "{{ gathered | map: 'text' | join }}" } }
`,
  );
  const part = ['run', 'words.yaml', '--out', 'a', '--filter', 'seed=2'] as const;
  const said = await say(...part);
  expect([said.code, said.err]).toEqual([
    1,
    expect.stringContaining(
      'Still to do: 2 of wrap, which gather results that the flags of the run left out. A run of the whole plan makes them.',
    ),
  ]);
  const json = await say(...part, '--json');
  expect([json.code, JSON.parse(json.out)]).toMatchObject([1, { leftOut: { wrap: 2 }, submits: 0 }]);
  const status = await say('status', 'a');
  expect(status.out).toContain(
    'Still to do: 2 of wrap, which gather results that the flags of the run left out.',
  );
  expect(JSON.parse((await say('status', 'a', '--json')).out)).toMatchObject({ leftOut: { wrap: 2 } });
  const { submits, ...whole } = await run('words.yaml', 'a');
  expect(submits).toBe(4);
  expect(whole).not.toHaveProperty('leftOut');
  expect((await say('status', 'a')).out).not.toContain('Still to do');
});

describe('picks of picks', () => {
  it('are named in the order of the file', async () => {
    await writeFile(
      join(folder.cwd, 'picks.yaml'),
      `name: picks
matrix: { n: [1, 2, 3], words: [[fox, owl]] }
steps:
  rate:
    each: "{{ words }}"
    generate:
      model: text-pro
      prompt: Rate {{ item }} {{ n }}.
      responseSchema: { type: object, properties: { value: { type: number } }, required: [value] }
  frame: { best: { from: rate, by: "{{ steps.rate.json.value }}" } }
  pick: { best: { from: frame, by: "{{ steps.rate.json.value }}", top: 3, over: [n] } }
  last: { from: pick/1, generate: { model: text-pro, prompt: "Say {{ n }}." } }
`,
    );
    await run('picks.yaml', 'a');
    const picked = (await rowsOf('a')).flatMap((row) => (row['picked'] ? [row['picked']] : []));
    expect(picked.toSorted()).toEqual(['frame/1, pick/1', 'frame/1, pick/2', 'frame/1, pick/3']);
  });
});
