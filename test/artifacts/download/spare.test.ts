import { describe, expect, it } from 'vitest';
import { makeFilm } from '../../rig/fake-film.ts';
import { filesIn, freshFolder, startServer, startWriter } from '../places.ts';
import { always } from './download-rig.ts';

describe('a second link to the same video', () => {
  /** Saves a film whose links are answered with these statuses. */
  async function saved(first: number | string, spare: number) {
    const film = makeFilm(1, 8, 8);
    const server = await startServer((request, response) => {
      const status = request.url === '/spare.mp4' ? spare : Number(first);
      response.writeHead(status).end(status === 200 ? film : 'gone');
    });
    const writer = startWriter(freshFolder(), { baseUrl: server.url });
    const url = typeof first === 'string' ? first : `${server.url}/first.mp4`;
    const request = { url, spare: `${server.url}/spare.mp4`, key: 'ab', output: 1, media: 'video' } as const;
    const result = await writer.save(request, always);
    return { result, asked: server.requests.map(({ url: path }) => path) };
  }

  it.each([
    ['refused', 403],
    ['not there', 404],
    ['not served now', 503],
    ['one that may not be followed', 'http://10.0.0.1/a.mp4'],
  ])('is followed at once if the first is %s', async (_what, first) => {
    const { result, asked } = await saved(first, 200);
    expect(result).toMatchObject({ ok: true, value: { mime: 'video/mp4' } });
    expect(asked.at(-1)).toBe('/spare.mp4');
  });

  it('is not requested if the first gives the video', async () => {
    const { result, asked } = await saved(200, 200);
    expect(result.ok).toBe(true);
    expect(asked).toEqual(['/first.mp4']);
  });

  it('is refused if it leads to another video of the job, whose file stays the only one', async () => {
    const film = makeFilm(1, 8, 8);
    const server = await startServer((request, response) => {
      response.writeHead(request.url === '/second.mp4' ? 403 : 200).end(film);
    });
    const directory = freshFolder();
    const writer = startWriter(directory);
    const of = { spare: `${server.url}/spare.mp4`, key: 'ab', media: 'video' } as const;
    const first = await writer.save({ ...of, url: `${server.url}/first.mp4`, output: 1 }, always);
    if (!first.ok) throw new Error(first.error.message);
    const others = [first.value.sha256];
    const second = { ...of, url: `${server.url}/second.mp4`, output: 2 };
    expect(await writer.save({ ...second, others }, always)).toMatchObject({
      ok: false,
      error: { status: 403 },
    });
    expect(filesIn(directory)).toEqual([first.value.file]);
    expect(await writer.save({ ...second, others: [] }, always)).toMatchObject({ ok: true });
  });

  it('keeps the failure of the first if it gives nothing either', async () => {
    const { result } = await saved(403, 404);
    expect(result).toMatchObject({
      ok: false,
      error: { status: 403, code: 'download.refused', lasting: true },
    });
  });
});
