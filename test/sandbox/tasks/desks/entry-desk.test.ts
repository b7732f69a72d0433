import sharp from 'sharp';
import { afterEach, describe, expect, test } from 'vitest';
import { midjourneyProxyNames } from '../../../../src/sandbox/names.ts';
import { type Client, start } from '../../client.ts';
import { dataUri, differences, maskOf, meanOf, plain, raster } from '../../pixels.ts';

let client: Client;
afterEach(() => client.sandbox.close());

/** The id of a submission's task, finished. */
const done = async (route: string, body: object): Promise<string> => {
  const response = await client.submit(route, body);
  expect(response).toMatchObject({ status: 200, body: { code: 1 } });
  client.wait();
  return response.body.result;
};

const labels = async (id: string): Promise<string[]> =>
  (await client.task(id)).buttons.map(({ label, emoji }: { label: string; emoji: string }) => label || emoji);

/** A picture of the sandbox's own. */
const own = async (prompt: string): Promise<Buffer> =>
  client.picture(await client.press(await client.finished(prompt), 'U1'));

describe('blend', () => {
  test.each([
    ['two', ['#c06020', '#2020c0']],
    ['five', ['#c02020', '#20c020', '#2020c0', '#c0c020', '#101010']],
  ])('mixes %s images: every colour lies between theirs', async (_count, colours) => {
    client = await start();
    const images = await Promise.all(colours.map((colour) => plain(colour, 50, 40)));
    const id = await done('blend', { base64Array: images.map((image) => dataUri(image)) });
    expect(await client.task(id)).toMatchObject({ action: 'BLEND', status: 'SUCCESS' });
    expect(await labels(id)).toEqual(['U1', 'U2', 'U3', 'U4', '🔄', 'V1', 'V2', 'V3', 'V4']);
    const parts = await Promise.all(images.map(meanOf));
    const seen = new Set<string>();
    for (const label of ['U1', 'U2', 'U3', 'U4']) {
      const picture = await client.picture(await client.press(id, label));
      const mean = await meanOf(picture);
      for (const [channel, value] of mean.entries()) {
        const values = parts.map((part) => part[channel] ?? 0);
        expect(value).toBeGreaterThan(Math.min(...values));
        expect(value).toBeLessThan(Math.max(...values));
      }
      seen.add(picture.toString('base64'));
    }
    expect(seen.size).toBe(4);
  });

  test.each([
    ['PORTRAIT', 2 / 3],
    ['SQUARE', 1],
    ['LANDSCAPE', 3 / 2],
    [undefined, 1],
  ])('has the shape %s', async (dimensions, aspect) => {
    client = await start({ settings: { pixels: 128 } });
    const image = dataUri(await plain('#446688'));
    const { width, height } = await raster(
      await client.picture(await done('blend', { base64Array: [image, image], dimensions })),
    );
    expect(width / height).toBeCloseTo(aspect, 1);
  });

  test('continues like a grid: varied, rerolled, zoomed out, animated', async () => {
    client = await start();
    const id = await done('blend', {
      base64Array: [dataUri(await own('a fox')), dataUri(await plain('#20c0c0'))],
    });
    const pictures = [await client.picture(id)];
    for (const label of ['V2', '🔄']) pictures.push(await client.picture(await client.press(id, label)));
    const one = await client.press(id, 'U1');
    for (const label of ['Zoom Out 2x', '➡️', 'Vary (Subtle)'])
      pictures.push(await client.picture(await client.press(one, label)));
    expect(new Set(pictures.map((picture) => picture.toString('base64'))).size).toBe(pictures.length);
    expect((await client.task(await client.press(one, 'Animate (Low motion)'))).videoUrls).toHaveLength(4);
  });

  test.each([
    ['gateway 2.6: one image', { base64Array: 1 }, 'expected 2 to 5 images, got 1'],
    ['gateway 2.6: six images', { base64Array: 6 }, 'expected 2 to 5 images, got 6'],
    ['a strange shape', { base64Array: 2, dimensions: 'ROUND' }, 'dimensions: expected PORTRAIT'],
  ])('is refused: %s', async (_name, { base64Array, ...more }, words) => {
    client = await start();
    const image = dataUri(await plain('#446688'));
    const { body } = await client.submit('blend', {
      base64Array: Array.from({ length: base64Array }, () => image),
      ...more,
    });
    expect(body).toMatchObject({ code: 4, result: null });
    expect(body.description).toContain(words);
    const broken = (await client.submit('blend', { base64Array: [image, 'data:image/png;base64,AAAA'] }))
      .body;
    expect(broken.description).toMatch(/^base64Array\[1\]: these bytes cannot be decoded as an image/);
  });
});

describe('a describe', () => {
  test('names the words of a picture of the sandbox, in four prompts', async () => {
    client = await start();
    const id = await done('describe', { base64: dataUri(await own('a lynx, ink “fine” 山 --ar 3:2')) });
    const task = await client.task(id);
    expect(task).toMatchObject({ action: 'DESCRIBE', status: 'SUCCESS' });
    const prompts = String(task.properties.finalPrompt).split('\n\n');
    expect(prompts).toHaveLength(4);
    expect(prompts[0]).toBe('1️⃣ a lynx, ink “fine” 山 --ar 3:2');
    for (const [index, prompt] of prompts.entries()) {
      expect(prompt).toMatch(new RegExp(`^${index + 1}\u{FE0F}\u{20E3} a lynx.* --ar 3:2$`));
    }
    expect(task.buttons.map(({ customId }: { customId: string }) => customId)).toEqual([
      ...[1, 2, 3, 4].map((index) => `IMG::Job::PicReader::${index}`),
      'IMG::Picread::Retry',
      'IMG::Job::PicReader::all',
    ]);
    expect((await client.bytes(task.imageUrl)).length).toBeGreaterThan(100);
  });

  test('names the colours of any other image, reads links of the sandbox, and draws other links from their words', async () => {
    client = await start();
    const describedBy = async (body: object): Promise<string> =>
      (await client.task(await done('describe', body))).properties.finalPrompt;
    expect(await describedBy({ base64: dataUri(await plain('#cd2828', 90, 60)) })).toMatch(
      /^1️⃣ a dim picture in red --ar 3:2\n/,
    );
    const { imageUrl } = await client.task(await client.finished('an owl at night'));
    expect(await describedBy({ link: imageUrl })).toMatch(/^1️⃣ an owl at night/);
    expect(await describedBy({ link: 'https://example.com/pictures/red-fox.jpg' })).toMatch(/^1️⃣ red fox/);
    const gone = await client.submit('describe', { link: imageUrl.replace(/\d{16}/, '1111111111111111') });
    expect(gone.body).toMatchObject({ code: 4 });
    expect(gone.body.description).toContain('[Invalid link]');
  });

  test('has buttons that imagine one prompt after a modal or all at once, or describe again', async () => {
    client = await start();
    const id = await done('describe', { base64: dataUri(await own('a fox')) });
    const { properties } = await client.task(id);
    const opened = (await client.click(id, '2️⃣')).body;
    expect(opened).toMatchObject({
      code: 21,
      properties: { finalPrompt: expect.stringMatching(/^a fox, /) },
    });
    const imagined = await done('modal', { taskId: opened.result });
    expect(await client.task(imagined)).toMatchObject({
      action: 'IMAGINE',
      prompt: opened.properties.finalPrompt,
    });
    const all = (await client.click(id, 'Imagine all')).body.result.split(',');
    expect(all).toHaveLength(4);
    client.wait();
    const grids = await Promise.all(all.map((each: string) => client.task(each)));
    expect(new Set(grids.map(({ prompt }) => prompt)).size).toBe(4);
    expect(grids.every(({ status }) => status === 'SUCCESS')).toBe(true);
    const again = await client.task(await client.press(id, '🔄'));
    expect(again.properties.finalPrompt).not.toBe(properties.finalPrompt);
  });
});

describe('video', () => {
  test.each([
    [1, 'low'],
    [2, 'high'],
    [4, 'high'],
  ])('%i of them, with %s motion: moving files that open, each its own', async (batchSize, motion) => {
    client = await start({ settings: { pixels: 96 } });
    const image = dataUri(await own('a fox at dusk'));
    const id = await done('video', { image, motion, batchSize, prompt: 'wind' });
    const task = await client.task(id);
    expect(task).toMatchObject({ action: 'VIDEO', status: 'SUCCESS', videoUrl: task.videoUrls[0].url });
    expect(task.videoUrls).toHaveLength(batchSize);
    expect(await labels(id)).toEqual([
      ...Array.from({ length: batchSize }, (_, index) => `U${index + 1}`),
      '🔄',
    ]);
    const seen = new Set<string>();
    for (const { url } of task.videoUrls) {
      const response = await fetch(url);
      expect(response.headers.get('content-type')).toBe('image/webp');
      const film = Buffer.from(await response.arrayBuffer());
      const { pages = 0, format, delay } = await sharp(film).metadata();
      expect(format).toBe('webp');
      expect(pages).toBeGreaterThan(12);
      expect((delay ?? []).reduce((sum, time) => sum + time, 0)).toBeGreaterThan(1500);
      const [first, middle] = await Promise.all(
        [0, pages >> 1].map((page) => sharp(film, { page }).png().toBuffer()),
      );
      expect(first?.equals(middle ?? first)).toBe(false);
      seen.add(film.toString('base64'));
    }
    expect(seen.size).toBe(batchSize);
    const poster = await raster(await client.bytes(task.imageUrl));
    expect(poster.width / poster.height).toBeCloseTo(batchSize === 2 ? 2 : 1, 1);
  });

  test('begins with its image and ends with its end image; a loop ends where it began and plays on', async () => {
    client = await start({ settings: { pixels: 128 } });
    const red = await plain('#b02020', 128, 128);
    const blue = await plain('#2020b0', 128, 128);
    const film = async (more: object): Promise<Buffer> =>
      client.bytes(
        (await client.task(await done('video', { image: dataUri(red), batchSize: 1, ...more }))).videoUrl,
      );
    const at = async (bytes: Buffer, page: number) => meanOf(await sharp(bytes, { page }).png().toBuffer());
    const moved = await film({ endImage: dataUri(blue), videoType: 'vid_1.1_i2v_start_end_480' });
    const { pages = 0, loop } = await sharp(moved).metadata();
    const [first, last] = [await at(moved, 0), await at(moved, pages - 1)];
    expect((first[0] ?? 0) - (first[2] ?? 0)).toBeGreaterThan(100);
    expect((last[2] ?? 0) - (last[0] ?? 0)).toBeGreaterThan(100);
    expect(loop).toBe(1);
    expect((await sharp(await film({ loop: true })).metadata()).loop).toBe(0);
  });

  test('is chosen, extended by a button and by a request, and every extension is longer', async () => {
    client = await start({ settings: { pixels: 64 } });
    const one = await client.press(await client.finished('a fox'), 'U1');
    const films = await client.press(one, 'Animate (High motion)');
    const chosen = await client.press(films, 'U2');
    expect((await client.task(chosen)).videoUrls).toHaveLength(1);
    expect(await labels(chosen)).toEqual(['Extend (High motion)', 'Extend (Low motion)']);
    const length = async (id: string): Promise<number> => {
      const { delay } = await sharp(await client.bytes((await client.task(id)).videoUrl)).metadata();
      return (delay ?? []).reduce((sum, time) => sum + time, 0);
    };
    const longer = await client.press(chosen, 'Extend (Low motion)');
    expect(await client.task(longer)).toMatchObject({ action: 'VIDEO_EXTEND' });
    const asked = await done('video', {
      action: 'extend',
      taskId: films,
      index: 1,
      motion: 'low',
      batchSize: 2,
    });
    expect((await client.task(asked)).videoUrls).toHaveLength(2);
    expect(await length(longer)).toBeGreaterThan(1.8 * (await length(chosen)));
    expect(await length(asked)).toBe(await length(longer));
    const beyond = (await client.submit('video', { action: 'extend', taskId: chosen, index: 3 })).body;
    expect(beyond).toMatchObject({ code: 4, description: expect.stringContaining('from 0 to 0') });
    expect((await client.submit('video', { action: 'extend', taskId: one })).body.code).toBe(4);
    expect((await client.submit('video', { action: 'extend', taskId: '17' })).status).toBe(404);
  });

  test.each([
    [{ motion: 'wild' }, 'motion: expected low, high'],
    [{ batchSize: 3 }, 'batchSize: expected 1, 2, 4'],
    [{ videoType: 'vhs' }, 'videoType: expected'],
    [{ image: 'x' }, 'image: expected an http(s) address or a data URI'],
  ])('%j is refused with code 4', async (more, words) => {
    client = await start();
    const { body } = await client.submit('video', {
      image: dataUri(await plain('#444')),
      motion: 'low',
      ...more,
    });
    expect(body).toMatchObject({ code: 4, result: null, description: expect.stringContaining(words) });
  });
});

describe('edits', () => {
  test.each([
    [
      'a rectangle in a drawing',
      '<rect x="10" y="14" width="40" height="30"/>',
      'a tall blue lighthouse',
      64,
    ],
    [
      'a free form in a photograph of an odd size',
      '<path d="M5 5 L60 20 L30 70 Z"/>',
      'a starry night sky',
      77,
    ],
  ])('%s: outside nothing changes', async (_name, shape, prompt, width) => {
    client = await start();
    const image =
      width === 64
        ? await own('a meadow in spring')
        : await sharp({
            create: {
              width,
              height: 91,
              channels: 3,
              background: '#888',
              noise: { type: 'gaussian', mean: 120, sigma: 40 },
            },
          })
            .png()
            .toBuffer();
    const { height } = await raster(image);
    const mask = await maskOf(shape, 'cut', width, height);
    const id = await done('edits', { image: dataUri(image), maskBase64: dataUri(mask), prompt });
    expect(await client.task(id)).toMatchObject({ action: 'EDITS', prompt });
    const one = await client.press(id, 'U3');
    expect(await labels(one)).toEqual([]);
    const { inside, outside, changedInside, changedOutside } = await differences(
      image,
      await client.picture(one),
      mask,
      'cut',
    );
    expect([inside > 300, outside > 300, changedOutside]).toEqual([true, true, 0]);
    expect(changedInside / inside).toBeGreaterThan(0.9);
    expect(await client.picture(await client.press(id, '🔄'))).not.toEqual(await client.picture(id));
  });

  test('an image that is transparent where it is edited needs no mask', async () => {
    client = await start();
    const cut = dataUri(await maskOf('<circle cx="30" cy="30" r="20"/>', 'cut'));
    await done('edits', { image: cut, prompt: 'a cat' });
    const { body } = await client.submit('edits', { image: dataUri(await plain('#444')), prompt: 'a cat' });
    expect(body).toMatchObject({ code: 4, description: expect.stringContaining('maskBase64 is required') });
    const opaque = dataUri(await plain('#fff'));
    const whole = await client.submit('edits', { image: opaque, maskBase64: opaque, prompt: 'a cat' });
    expect(whole.body.description).toContain('nothing is transparent');
  });
});

test('image prompts lend their colours and their composition', async () => {
  client = await start();
  const pictures: Buffer[] = [];
  for (const colour of ['#c03020', '#2030c0']) {
    const { body } = await client.imagine('a cat --seed 1', '', {
      base64Array: [dataUri(await plain(colour))],
    });
    client.wait();
    pictures.push(await client.picture(body.result));
  }
  const [warm, cold] = await Promise.all(pictures.map(meanOf));
  expect((warm?.[0] ?? 0) - (warm?.[2] ?? 0)).toBeGreaterThan((cold?.[0] ?? 0) - (cold?.[2] ?? 0) + 20);
  expect((await client.imagine('a cat', '', { base64Array: ['data:image/png;base64,AAAA'] })).body.code).toBe(
    4,
  );
});

test('the other family has the same endpoints under its own names', async () => {
  client = await start({ names: midjourneyProxyNames });
  const image = dataUri(await plain('#446688'));
  for (const [route, body] of [
    ['blend', { base64Array: [image, image] }],
    ['describe', { base64: image }],
    ['video', { image, motion: 'low', batchSize: 1 }],
    ['edits', { image: dataUri(await maskOf('<rect width="30" height="30"/>', 'cut')), prompt: 'a cat' }],
  ] as const) {
    const made = await client.send('POST', `/mj-fast/mj/submit/${route}`, {
      botType: 'MID_JOURNEY',
      state: `tag ${route}`,
      ...body,
    });
    expect(made.body.code).toBe(1);
    client.wait();
    const task = (await client.send('GET', `/mj/task/${made.body.result}/fetch`)).body;
    expect(task).toMatchObject({ status: 'SUCCESS', state: `tag ${route}`, botType: 'MID_JOURNEY' });
    expect((await client.bytes(task.videoUrl || task.imageUrl)).length).toBeGreaterThan(50);
    for (const { customId } of task.buttons) expect(customId).toMatch(/^MJ::/);
  }
  expect(client.sandbox.counters().requests).toMatchObject({
    blend: { 200: 1 },
    describe: { 200: 1 },
    video: { 200: 1 },
    edits: { 200: 1 },
  });
});
