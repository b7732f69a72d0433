import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Task } from '../../../src/service/image-service.ts';
import { key, never, respondingWith } from '../scripted-fetch.ts';

const id = '1700000000000001';
const grid = 'https://cdn.example.com/grid.png';
const [one, two] = ['https://cdn.example.com/1.mp4', 'https://cdn.example.com/2.mp4?ex=1'];

async function fetched(record: object): Promise<Task> {
  const result = await respondingWith(200, { id, status: 'SUCCESS', ...record }).fetchTask(id, never);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

describe('the links of a finished task', () => {
  test.each([
    ['a list of objects', { videoUrls: [{ url: one, thumbnail: 't' }, { url: two }] }, [one, two]],
    ['a list of texts', { videoUrls: [one, ` ${two} `] }, [one, two]],
    ['a list and its first', { videoUrl: one, videoUrls: [{ url: one }, { url: two }] }, [one, two]],
    ['a single one', { videoUrl: one, videoUrls: null }, [one]],
    ['a single one and an empty list', { videoUrl: one, videoUrls: [] }, [one]],
    ['in the words of other gateways', { video_urls: [{ url: one }] }, [one]],
    ['a single one in the words of other gateways', { video_url: one }, [one]],
    [
      'where images stand, of every kind',
      { imageUrls: ['mp4', 'm4v', 'webm', 'mov', 'WEBM'].map((kind) => `https://x.test/a.${kind}`) },
      ['mp4', 'm4v', 'webm', 'mov', 'WEBM'].map((kind) => `https://x.test/a.${kind}`),
    ],
    ['that stand only behind the image', { imageUrl: grid, imageUrls: [grid, one] }, [one]],
    ['where images stand', { imageUrl: '', imageUrls: [{ url: one }, { url: two }] }, [one, two]],
    ['as the image', { imageUrl: two }, [two]],
    ['as the image and in the list of images', { imageUrl: one, imageUrls: [one, two] }, [one, two]],
    ['what is no link among them', { videoUrls: [null, 7, {}, '', { url: ' ' }, { url: two }] }, [two]],
    ['empty texts', { videoUrl: '', videoUrls: null, imageUrl: grid }, undefined],
    ['none', { imageUrl: grid }, undefined],
  ])('videos: %s', async (_what, record, links) => {
    expect((await fetched(record)).videoUrls).toEqual(links);
  });

  test.each([
    ['imageUrl', { imageUrl: grid, imageUrls: ['https://cdn.example.com/1.png'] }, grid],
    ['the first of imageUrls', { imageUrl: null, imageUrls: [{ url: grid }, { url: one }] }, grid],
    ['the first of image_urls', { image_urls: [grid] }, grid],
    ['a poster beside its video', { imageUrl: grid, videoUrl: one }, grid],
    ['none beside a video that stands in its place', { imageUrl: one }, undefined],
  ])('image: %s', async (_what, record, link) => {
    expect((await fetched(record)).imageUrl).toBe(link);
  });

  test('are limited in number, and never contain the key', async () => {
    const videoUrls = Array.from({ length: 1_000 }, (_, n) => `https://x.test/${n}.mp4`);
    expect((await fetched({ videoUrls })).videoUrls).toHaveLength(25);
    expect(await fetched({ videoUrls: [`https://x.test/${key}.mp4`, one] })).toMatchObject({
      videoUrls: ['[secret]', one],
    });
  });

  test.each(['IN_PROGRESS', 'FAILURE', 'MODAL', ''])('are empty at status %j', async (status) => {
    const task = await fetched({ status, videoUrl: one, imageUrls: [grid], imageUrl: grid });
    expect(task).not.toHaveProperty('videoUrls');
    expect(task).not.toHaveProperty('imageUrl');
  });
});

describe('the prompts of a finished task', () => {
  const finalPrompt = '1️⃣ Cat --ar 5:4\n\n2️⃣ Dog\n\n3️⃣ Fox\n\n4️⃣ Owl';
  const prompts = ['Cat --ar 5:4', 'Dog', 'Fox', 'Owl'];

  test.each([
    ['properties.finalPrompt', { action: 'DESCRIBE', properties: { finalPrompt } }, prompts],
    ['an action with white space around it', { action: ' DESCRIBE\n', properties: { finalPrompt } }, prompts],
    [
      'finalPrompt before all others',
      { action: 'DESCRIBE', properties: { finalPrompt }, promptEn: 'b' },
      prompts,
    ],
    ['promptEn before prompt', { action: 'DESCRIBE', promptEn: 'a fox', prompt: '一只狐狸' }, ['a fox']],
    [
      'prompt before what is Chinese',
      { action: 'DESCRIBE', prompt: 'a fox', properties: { finalZhPrompt: '一只狐狸' } },
      ['a fox'],
    ],
    [
      'a blank finalPrompt is none',
      { action: 'DESCRIBE', properties: { finalPrompt: ' \n' }, prompt: 'a' },
      ['a'],
    ],
    ['an action in other letters', { action: 'describe', properties: { finalPrompt } }, prompts],
    ['no action, but a list', { properties: { finalPrompt } }, prompts],
    ['no action, and no list', { properties: { finalPrompt: 'a fox --ar 3:2' } }, undefined],
    ['one prompt', { action: 'DESCRIBE', properties: { finalPrompt: 'a fox' } }, ['a fox']],
    ['properties null: promptEn', { action: 'DESCRIBE', properties: null, promptEn: finalPrompt }, prompts],
    ['no properties: prompt', { action: 'DESCRIBE', promptEn: '', prompt: finalPrompt }, prompts],
    ['an empty finalPrompt', { action: 'DESCRIBE', properties: { finalPrompt: '' }, prompt: '' }, undefined],
    ['only in Chinese', { action: 'DESCRIBE', properties: { finalZhPrompt: '1️⃣ 猫\n2️⃣ 狗' } }, ['猫', '狗']],
    ['another action', { action: 'IMAGINE', properties: { finalPrompt } }, undefined],
    [
      'shorten, below its words',
      {
        action: 'SHORTEN',
        prompt: 'a fox',
        properties: {
          finalPrompt: '## Important tokens\n**fox** (1.0)\n\n## Shortened prompts\n1️⃣ red fox\n\n2️⃣ fox',
        },
      },
      ['red fox', 'fox'],
    ],
    ['shorten without a list', { action: 'SHORTEN', prompt: 'a fox', properties: null }, undefined],
    ['properties that are none', { action: 'DESCRIBE', properties: 'x' }, undefined],
  ])('%s', async (_what, record, expected) => {
    expect((await fetched(record)).prompts).toEqual(expected);
  });

  test('do not repeat the key, and are longer than messages', async () => {
    const long = `1️⃣ ${key} ${'x'.repeat(3_000)}\n2️⃣ b`;
    const task = await fetched({ action: 'DESCRIBE', properties: { finalPrompt: long } });
    expect(task.prompts).toEqual([`[secret] ${'x'.repeat(3_000)}`, 'b']);
  });

  test('are empty before the task is finished', async () => {
    const task = await fetched({ status: 'IN_PROGRESS', action: 'DESCRIBE', properties: { finalPrompt } });
    expect(task).not.toHaveProperty('prompts');
  });
});

describe('the tag', () => {
  test.each(['SUCCESS', 'MODAL', 'IN_PROGRESS', '', 'FAILURE'])(
    'is the echoed `state`, at status %j',
    async (status) => {
      expect((await fetched({ status, state: 'v1:abc' })).tag).toBe('v1:abc');
    },
  );

  test.each(['', null, {}, 'x'.repeat(256), 'a\u0000b', key])('is empty for %j', async (state) => {
    expect(await fetched({ state })).not.toHaveProperty('tag');
  });
});

test.each(['IMAGINE', 'UPSCALE', 'VIDEO_EXTEND', 'PIC_READER', 'SOMETHING_NEW', '', null])(
  'an action %j does not change a state',
  async (action) => {
    expect(await fetched({ action, imageUrl: grid, properties: null })).toMatchObject({
      state: 'success',
      imageUrl: grid,
    });
  },
);

test('every record is read into the declared types', async () => {
  const anything = fc.jsonValue({ maxDepth: 3 });
  const names = [
    'imageUrl',
    'imageUrls',
    'videoUrl',
    'videoUrls',
    'properties',
    'prompt',
    'state',
    'buttons',
  ];
  const record = fc.dictionary(fc.constantFrom(...names, 'action', 'progress', 'failReason'), anything);
  const status = fc.constantFrom('SUCCESS', 'FAILURE', 'MODAL', '', 'X');
  await fc.assert(
    fc.asyncProperty(record, status, fc.boolean(), async (fields, said, isDescribe) => {
      const task = await fetched({ ...fields, status: said, ...(isDescribe && { action: 'DESCRIBE' }) });
      const texts = [task.imageUrl, task.tag, ...(task.videoUrls ?? ['x']), ...(task.prompts ?? ['x'])];
      for (const text of texts) expect(text ?? 'x').toMatch(/./);
      const isEarly = said !== 'SUCCESS' && ('videoUrls' in task || 'prompts' in task);
      expect(isEarly).toBe(false);
    }),
    { seed: 20261121, numRuns: 300 },
  );
});
