import { afterEach, describe, expect, test } from 'vitest';
import { neutralNames } from '../../../../src/sandbox/names.ts';
import { type Client, start } from '../../client.ts';
import { dataUri, plain } from '../../pixels.ts';
import { struck } from '../../struck.ts';

let client: Client;
afterEach(() => client.sandbox.close());

describe('links of a task stand', () => {
  const link = expect.stringMatching(/^http/);
  test.each([
    ['videos', link, undefined, link, { url: link }],
    ['objects', link, { url: link, thumbnail: link }, link, { url: link, thumbnail: link }],
    ['texts', link, link, link, link],
    ['only-objects', null, { url: link, thumbnail: link }, '', { url: link, thumbnail: link }],
    ['only-texts', null, link, '', link],
  ] as const)('%s', async (linkLists, imageUrl, image, videoUrl, video) => {
    client = await struck({ linkLists });
    const imageUrls = image === undefined ? {} : { imageUrls: [image] };
    const task = await client.task(await client.finished('a fox'));
    const noImages = image === undefined ? {} : { imageUrls: null };
    expect(task).toMatchObject({ imageUrl, ...imageUrls, videoUrl: '', videoUrls: null });
    expect('imageUrls' in task).toBe(image !== undefined);
    const { body } = await client.submit('video', {
      image: dataUri(await plain('#446688')),
      motion: 'low',
      batchSize: 2,
    });
    expect(await client.task(body.result)).toMatchObject({ imageUrl: null, ...noImages, videoUrls: null });
    client.wait();
    const film = await client.task(body.result);
    expect(film).toMatchObject({ imageUrl, ...imageUrls, videoUrl, videoUrls: [video, video] });
    for (const one of film.videoUrls) expect((await fetch(one.url ?? one)).status).toBe(200);
  });

  test('in no field with the fault missing', async () => {
    client = await struck({ linkLists: 'texts' }, 'fetch:link=missing');
    expect(await client.task(await client.finished('a fox'))).toMatchObject({
      imageUrl: null,
      imageUrls: null,
    });
  });
});

describe('links', () => {
  test('are expired, foreign or missing once, then right', async () => {
    client = await struck(
      {},
      'fetch:link=expired:at 1',
      'fetch:link=foreign:at 2',
      'fetch:link=missing:at 3',
    );
    const id = await client.finished('a fox');
    const [expired, foreign, missing, fine] = [
      await client.task(id),
      await client.task(id),
      await client.task(id),
      await client.task(id),
    ];
    expect([expired, foreign, missing, fine].map(({ status }) => status)).toEqual(Array(4).fill('SUCCESS'));
    expect((await fetch(expired.imageUrl)).status).toBe(403);
    expect(new URL(foreign.imageUrl).hostname).toBe('cdn.sandbox.invalid');
    expect(missing.imageUrl).toBeNull();
    expect((await fetch(fine.imageUrl)).status).toBe(200);
  });

  test('answer with JSON', async () => {
    client = await struck(
      {},
      ...[200, 403, 404, 410].map((status, index) => `image:json=${status}:at ${index + 1}`),
    );
    const { imageUrl } = await client.task(await client.finished('a fox'));
    for (const status of [200, 403, 404, 410]) {
      const response = await fetch(imageUrl);
      expect([response.status, await response.json()]).toEqual([status, { error: 'http_get_image_failed' }]);
    }
    expect((await fetch(imageUrl)).headers.get('content-type')).toBe('image/png');
  });

  test('of a video expire like those of a picture', async () => {
    client = await struck({ linkLife: 1000 });
    const image = dataUri(await plain('#446688'));
    const { body } = await client.submit('video', { image, motion: 'low', batchSize: 1 });
    client.wait();
    const { videoUrl } = await client.task(body.result);
    expect((await fetch(videoUrl)).status).toBe(200);
    client.clock.time += 1000;
    expect((await fetch(videoUrl)).status).toBe(403);
    const fresh = (await client.task(body.result)).videoUrl;
    expect((await fetch(fresh.replace('/1?', '/2?'))).status).toBe(404);
  });
});

test('a link of the sandbox is read under a path of several segments', async () => {
  client = await start({
    names: { ...neutralNames, path: 'v9/art', fastPrefix: 'v9', turboPrefix: 'v9/rush' },
  });
  const imagine = { botType: 'IMG_JOURNEY', prompt: 'a lynx at dusk' };
  const submitted: string[] = [];
  for (const prefix of ['', '/v9', '/v9/rush']) {
    const { body } = await client.send('POST', `${prefix}/v9/art/submit/imagine`, imagine);
    client.wait();
    const { imageUrl } = (await client.send('GET', `/v9/art/task/${body.result}/fetch`)).body;
    expect((await fetch(imageUrl)).headers.get('content-type')).toBe('image/png');
    submitted.push(imageUrl);
  }
  const { body } = await client.send('POST', '/v9/art/submit/describe', { link: submitted[0] });
  client.wait();
  const described = (await client.send('GET', `/v9/art/task/${body.result}/fetch`)).body;
  expect(described.properties.finalPrompt).toContain('lynx');
});
