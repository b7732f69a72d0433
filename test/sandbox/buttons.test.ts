import { afterEach, describe, expect, test } from 'vitest';
import { midjourneyProxyNames } from '../../src/sandbox/names.ts';
import { type Client, start } from './client.ts';

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

describe('after an upscale the version decides', () => {
  test.each([
    ['--v 5.2', upscales('2x', '4x', 'v5_2x', 'v5_4x')],
    ['--v 6', upscales('Subtle', 'Creative', 'v6_2x_subtle', 'v6_2x_creative')],
    ['--v 6.1', upscales('Subtle', 'Creative', 'v6r1_2x_subtle', 'v6r1_2x_creative')],
    ['--v 7', upscales('Subtle', 'Creative', 'v7_2x_subtle', 'v7_2x_creative')],
    ['', upscales('Subtle', 'Creative', 'v7_2x_subtle', 'v7_2x_creative')],
    ['--niji 6', upscales('Subtle', 'Creative', 'v6_2x_subtle', 'v6_2x_creative')],
    ['--v 7 --v 5.2', upscales('2x', '4x', 'v5_2x', 'v5_4x')],
  ])('%s', async (flag, expected) => {
    client = await start();
    const { buttons } = await client.task(await client.press(await client.finished(`a fox ${flag}`), 'U2'));
    expect(shown(buttons)).toEqual([...expected, ...vary, ...zoom, ...pan, ...animate, reroll]);
  });

  test.each([
    ['--v 8', [...vary, ...animate, reroll]],
    ['--v 4', ['Make Variations|🪄|IMG::JOB::variation::1::ID::SOLO', reroll]],
  ])('%s', async (flag, expected) => {
    client = await start();
    const { buttons } = await client.task(await client.press(await client.finished(`a fox ${flag}`), 'U2'));
    expect(shown(buttons)).toEqual(expected);
  });
});

test('an enlarged image has neither upscales nor pans', async () => {
  client = await start();
  const upscaled = await client.press(await client.finished('a fox'), 'U1');
  const { action, buttons } = await client.task(await client.press(upscaled, 'Upscale (Subtle)'));
  expect(action).toBe('UPSCALE_HD');
  expect(shown(buttons)).toEqual([...vary, ...zoom, ...animate, reroll]);
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
  const early = await client.action(body.result, 'IMG::JOB::upsample::1::x');
  expect(early).toMatchObject({ status: 200, body: { code: 4 } });
  expect(early.body.description).toContain('NOT_START');
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

test('a gateway may answer 1 for a modal and show it only when polled', async () => {
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
