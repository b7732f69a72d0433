import { afterEach, describe, expect, test } from 'vitest';
import { midjourneyProxyNames } from '../../../src/sandbox/names.ts';
import { type Client, start } from '../client.ts';

let client: Client;
afterEach(() => client.sandbox.close());

interface Seen {
  readonly label: string;
  readonly emoji: string;
  readonly customId: string;
}

const shown = (buttons: readonly Seen[]): string[] =>
  buttons.map(
    (button) => `${button.label}|${button.emoji}|${button.customId.replaceAll(/[0-9a-f-]{36}/g, 'ID')}`,
  );

const vary = [
  'Vary (Subtle)|🪄|IMG::JOB::low_variation::1::ID::SOLO',
  'Vary (Strong)|🪄|IMG::JOB::high_variation::1::ID::SOLO',
  'Vary (Region)|🖌️|IMG::Inpaint::1::ID::SOLO',
];
const zoom = [
  'Zoom Out 2x|🔍|IMG::Outpaint::50::1::ID::SOLO',
  'Zoom Out 1.5x|🔍|IMG::Outpaint::75::1::ID::SOLO',
  'Custom Zoom|🔍|IMG::CustomZoom::ID',
];
const pan = [
  '|⬅️|IMG::JOB::pan_left::1::ID::SOLO',
  '|➡️|IMG::JOB::pan_right::1::ID::SOLO',
  '|⬆️|IMG::JOB::pan_up::1::ID::SOLO',
  '|⬇️|IMG::JOB::pan_down::1::ID::SOLO',
];
const animate = [
  'Animate (High motion)|🎞️|IMG::JOB::animate_high::1::ID::SOLO',
  'Animate (Low motion)|🎞️|IMG::JOB::animate_low::1::ID::SOLO',
];
const reroll = '|🔄|IMG::JOB::reroll::0::ID::SOLO';

const upscales = (first: string, second: string, word: string, other: string): string[] => [
  `Upscale (${first})|upscale_1|IMG::JOB::upsample_${word}::1::ID::SOLO`,
  `Upscale (${second})|upscale_1|IMG::JOB::upsample_${other}::1::ID::SOLO`,
];

test('a grid has nine buttons that share one job id', async () => {
  client = await start();
  const { buttons } = await client.task(await client.finished('a fox --v 6.1'));
  expect(shown(buttons)).toEqual([
    ...[1, 2, 3, 4].map((index) => `U${index}||IMG::JOB::upsample::${index}::ID`),
    reroll,
    ...[1, 2, 3, 4].map((index) => `V${index}||IMG::JOB::variation::${index}::ID`),
  ]);
  const jobs = buttons.map(({ customId }: Seen) => /[0-9a-f-]{36}/.exec(customId)?.[0]);
  expect(new Set(jobs).size).toBe(1);
});

const early = ['Make Variations|🪄|IMG::JOB::variation::1::ID::SOLO', reroll];
const max = 'Upscale to max|upscale_1|IMG::JOB::upsample_max::1::ID::SOLO';
const fifth = upscales('2x', '4x', 'v5_2x', 'v5_4x');
const sixth = upscales('Subtle', 'Creative', 'v6_2x_subtle', 'v6_2x_creative');
const seventh = upscales('Subtle', 'Creative', 'v7_2x_subtle', 'v7_2x_creative');

/** The upscales of each version of gateway 5.3; undefined where it has none that give a larger image. */
const versions: readonly (readonly [string, readonly string[] | undefined])[] = [
  ['--v 5', fifth],
  ['--v 5.1', fifth],
  ['--v 5.2', fifth],
  ['--v 6', sixth],
  ['--v 6.1', upscales('Subtle', 'Creative', 'v6r1_2x_subtle', 'v6r1_2x_creative')],
  ['--v 7', seventh],
  ['', seventh],
  ['--niji 5', fifth],
  ['--niji 6', sixth],
  ['--niji 7', seventh],
  ['--v 7 --v 5.2', fifth],
  ['--v 4 --niji 6', sixth],
];

const earlyVersions = ['--v 1', '--v 2', '--v 3', '--v 4', '--niji 4'];

/** What a single image of a prompt with this flag offers. */
async function single(flag: string): Promise<{ readonly id: string; readonly offered: readonly string[] }> {
  const id = await client.press(await client.finished(`a fox ${flag}`), 'U2');
  return { id, offered: shown((await client.task(id)).buttons) };
}

describe('after an upscale the version decides', () => {
  test.each(versions)('%s', async (flag, expected = []) => {
    client = await start();
    expect((await single(flag)).offered).toEqual([...expected, ...vary, ...zoom, ...pan, ...animate, reroll]);
  });

  test('--v 8', async () => {
    client = await start();
    expect((await single('--v 8')).offered).toEqual([...vary, ...animate, reroll]);
  });

  test.each(earlyVersions)('%s', async (flag) => {
    client = await start();
    expect((await single(flag)).offered).toEqual([max, ...early]);
  });
});

describe('after Upscale HD there are neither upscales nor pans', () => {
  const presses = versions.flatMap(([flag, upscale = []]) =>
    upscale.map((button) => [flag, button.split('|')[0] ?? ''] as const),
  );

  test.each(presses)('%s, %s', async (flag, label) => {
    client = await start();
    const { action, buttons } = await client.task(await client.press((await single(flag)).id, label));
    expect(action).toBe('UPSCALE_HD');
    expect(shown(buttons)).toEqual([...vary, ...zoom, ...animate, reroll]);
  });

  test.each(earlyVersions)('%s, Upscale to max', async (flag) => {
    client = await start();
    const { buttons } = await client.task(await client.press((await single(flag)).id, 'Upscale to max'));
    expect(shown(buttons)).toEqual(early);
  });
});

describe('buttons that only some gateways show', () => {
  test('Custom Zoom with a number in its customId opens its modal as the other does', async () => {
    client = await start({ settings: { quirks: new Set(['numbered-zoom']) } });
    const { id, offered } = await single('');
    expect(offered).toContain('Custom Zoom|🔍|IMG::CustomZoom::1::ID');
    expect((await client.click(id, 'Custom Zoom')).body.code).toBe(21);
  });

  test('❤️ responds with the task that it is pressed on, and makes none', async () => {
    client = await start({ settings: { quirks: new Set(['bookmarks']) } });
    const { id, offered } = await single('');
    expect(offered.at(-1)).toBe('|❤️|IMG::BOOKMARK::ID');
    const { made } = client.sandbox.counters().tasks;
    expect((await client.click(id, '❤️')).body).toMatchObject({ code: 1, result: id });
    expect(client.sandbox.counters().tasks.made).toBe(made);
    const larger = await client.task(await client.press(id, 'Upscale (Subtle)'));
    expect(shown(larger.buttons).join()).not.toContain('BOOKMARK');
  });

  test.each([
    ['--v 7', 'high', 'Manual High Motion'],
    ['--v 8', 'low', 'Manual Low Motion'],
  ])('%s: a manual %s animation asks for its prompt', async (flag, motion, label) => {
    client = await start({ settings: { quirks: new Set(['manual-animate']) } });
    const { id, offered } = await single(flag);
    expect(offered).toContain(`${label}||IMG::JOB::video::${motion}::ID::vid_1.1_i2v_480::manual`);
    const { body } = await client.click(id, label);
    expect(body).toMatchObject({
      code: 21,
      properties: { finalPrompt: `a fox ${flag} --motion ${motion} --video 1` },
    });
    const answered = await client.submit('modal', { taskId: body.result, prompt: 'it turns round' });
    client.wait();
    expect(await client.task(answered.body.result)).toMatchObject({
      action: 'VIDEO',
      status: 'SUCCESS',
      prompt: 'it turns round',
      videoUrls: [{}, {}, {}, {}],
    });
  });
});

test.each([
  ['Vary (Subtle)', 'LOW_VARIATION'],
  ['Vary (Strong)', 'HIGH_VARIATION'],
  ['Zoom Out 2x', 'ZOOM'],
  ['⬅️', 'PAN'],
  ['🔄', 'REROLL'],
])('%s of a single image gives a grid again', async (label, action) => {
  client = await start();
  const task = await client.task(
    await client.press(await client.press(await client.finished('a fox'), 'U1'), label),
  );
  expect(task).toMatchObject({ action, prompt: 'a fox' });
  expect(task.buttons).toHaveLength(9);
});

test('customIds differ between tasks of the same request, and only the current ones work', async () => {
  client = await start({ settings: { buttonLife: 10_000 } });
  const first = await client.imagine('a fox');
  const second = await client.imagine('a fox');
  client.clock.time += 5000;
  const [a, b] = [await client.task(first.body.result), await client.task(second.body.result)];
  expect(a.buttons[0].customId).not.toBe(b.buttons[0].customId);
  expect((await client.action(a.id, b.buttons[0].customId)).body).toMatchObject({ code: 4, result: null });
  expect((await client.action(a.id, 'FOO::JOB::upsample::1::x')).body.description).toBe(
    'Unknown action type',
  );
  expect((await client.action(a.id, a.buttons[0].customId)).body.code).toBe(1);

  client.clock.time += 10_000;
  expect((await client.action(a.id, a.buttons[0].customId)).body.code).toBe(4);
  const fresh = await client.task(a.id);
  expect((await client.action(a.id, fresh.buttons[0].customId)).body.code).toBe(1);
});

test('a click needs a parent that exists and is finished', async () => {
  client = await start();
  const unknown = await client.action('1790000000000999', 'IMG::JOB::upsample::1::x');
  expect(unknown).toMatchObject({ status: 404, body: { code: 3, result: null } });
  const { body } = await client.imagine('a fox');
  const tooEarly = await client.action(body.result, 'IMG::JOB::upsample::1::x');
  // In the words of the proxy, by which a client knows that the next try may be right.
  expect(tooEarly).toMatchObject({
    status: 200,
    body: { code: 4, description: '关联任务状态错误', result: null },
  });
  client.wait();
  const { buttons } = await client.task(body.result);
  expect((await client.action(body.result, buttons[0].customId)).body.code).toBe(1);
});

test('Vary (Region), Custom Zoom and remixed clicks open a modal that waits', async () => {
  client = await start();
  const upscaled = await client.press(await client.finished('a fox'), 'U1');
  const { buttons } = await client.task(upscaled);
  const idOf = (label: string): string => buttons.find((button: Seen) => button.label === label).customId;
  for (const [label, more] of [
    ['Vary (Region)', {}],
    ['Custom Zoom', {}],
    ['Vary (Strong)', { enableRemix: true }],
  ] as const) {
    const { body } = await client.action(upscaled, idOf(label), '', more);
    expect(body).toMatchObject({ code: 21, properties: { finalPrompt: 'a fox', remix: true } });
    client.clock.time += 86_400_000;
    expect(await client.task(body.result)).toMatchObject({ status: 'MODAL', progress: '', buttons: [] });
  }
});

test('a gateway may respond with 1 for a modal and show it only when polled', async () => {
  client = await start({ settings: { modalCode: 1 } });
  const upscaled = await client.press(await client.finished('a fox'), 'U1');
  const { buttons } = await client.task(upscaled);
  const { body } = await client.action(
    upscaled,
    buttons.find((button: Seen) => button.label === 'Custom Zoom').customId,
  );
  expect(body.code).toBe(1);
  expect((await client.task(body.result)).status).toBe('MODAL');
});

test('the names of the other family change paths, customIds and botType', async () => {
  client = await start({ names: midjourneyProxyNames });
  const { body } = await client.send('POST', '/mj-turbo/mj/submit/imagine', {
    botType: 'MID_JOURNEY',
    prompt: 'a fox',
  });
  client.clock.time += 60_000;
  const task = (await client.send('GET', `/mj/task/${body.result}/fetch`)).body;
  expect(task.buttons[0].customId).toMatch(/^MJ::JOB::upsample::1::/);
  expect(task.imageUrl).toContain('/mj/image/');
  expect((await client.imagine('a fox')).status).toBe(301);
});
