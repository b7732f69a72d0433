import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { makePng } from '../../rig/png.ts';
import { startServer } from '../places.ts';
import { errorOf, saveLink } from './download-rig.ts';

/** 500 kB, as no picture is compressed so little. */
const image = ((): Buffer => {
  const picture = makePng(1);
  const text = Buffer.alloc(500_000, 'x');
  text.writeUInt32BE(text.length - 12);
  text.write('prVt', 4);
  return Buffer.concat([picture.subarray(0, -12), text, picture.subarray(-12)]);
})();
const sha256 = createHash('sha256').update(image).digest('hex');

interface Host {
  /** Bytes that one connection brings. */
  readonly most?: (request: number) => number;
  readonly etag?: (request: number) => string | undefined;
  readonly date?: string;
  readonly ranges?: boolean;
  /** Sends no length. */
  readonly isChunked?: boolean;
  /** Of answers to ranges. */
  readonly status?: number;
  readonly range?: (from: number) => string;
  /** Where the part begins that is given for what was asked for. */
  readonly begins?: (from: number) => number;
  /** A part ends well after so many bytes. */
  readonly part?: number;
}

/** A host of images whose connections break. */
function hostOf(host: Host): (request: IncomingMessage, response: ServerResponse, count: number) => void {
  const {
    most = () => 120_000,
    etag = () => '"one"',
    date,
    ranges = true,
    isChunked,
    status = 206,
    range,
    begins = (from: number) => from,
    part = image.length,
  } = host;
  return (request, response, count) => {
    const wanted = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const tag = etag(count);
    const validator = tag ?? date;
    const from = ranges && wanted > 0 && request.headers['if-range'] === validator ? begins(wanted) : 0;
    const content = from > 0 ? image.subarray(from, from + part) : image;
    response.writeHead(from > 0 ? status : 200, {
      ...(tag === undefined ? {} : { etag: tag }),
      ...(date === undefined ? {} : { 'last-modified': date }),
      ...(isChunked === true ? {} : { 'content-length': content.length }),
      ...(from > 0
        ? { 'content-range': range?.(from) ?? `bytes ${from}-${image.length - 1}/${image.length}` }
        : {}),
    });
    if (content.length <= most(count)) response.end(content);
    else response.write(content.subarray(0, most(count)), () => setImmediate(() => response.destroy()));
  };
}

async function saved(host: Host) {
  const answer = hostOf(host);
  let count = 0;
  const server = await startServer((request, response) => {
    count += 1;
    answer(request, response, count);
  });
  const result = await saveLink(`${server.url}/a.png`);
  return {
    result,
    ranges: server.requests.map(({ headers }) => headers.range),
    conditions: server.requests.map(({ headers }) => headers['if-range']),
  };
}

it.each<[string, Host]>([
  ['by its entity tag', {}],
  ['by its date', { etag: () => undefined, date: 'Thu, 26 Nov 2026 10:00:00 GMT' }],
  ['without a length', { isChunked: true }],
  ['from the block before (xroche/httrack 428)', { begins: (from) => from - (from % 4096) }],
  ['with status 200 (modelscope/modelscope_hub 50)', { status: 200 }],
  ['in short parts (jizhi0v0/duo-updater 225)', { part: 30_000 }],
  ['whose size is not told', { range: (from) => `bytes ${from}-${image.length - 1}/*` }],
])(
  'a file that breaks off is continued at that place, and its hash covers the whole: %s',
  async (_what, host) => {
    const { result, ranges, conditions } = await saved(host);
    expect(result).toMatchObject({ ok: true, value: { bytes: image.length, sha256 } });
    expect(ranges[0]).toBeUndefined();
    expect(ranges.length).toBeGreaterThan(3);
    const starts = ranges.slice(1).map((range) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1]));
    expect(starts).toEqual(starts.toSorted((one, other) => one - other));
    expect(new Set(conditions.slice(1)).size).toBe(1);
  },
);

it('a server without ranges sends the whole file again, and only its rest is written', async () => {
  const { result, ranges } = await saved({
    ranges: false,
    most: (count) => (count > 1 ? image.length : 100_000),
  });
  expect(result).toMatchObject({ ok: true, value: { bytes: image.length, sha256 } });
  expect(ranges).toHaveLength(2);
});

it.each<[string, Host, number]>([
  ['another file by now', { etag: (count) => `"${count}"` }, 2],
  ['a file that nothing tells from another', { etag: () => undefined }, 1],
  ['a file with a weak tag', { etag: () => 'W/"one"' }, 1],
  [
    'a part of a file of another size',
    { range: (from) => `bytes ${from}-${image.length}/${image.length + 1}` },
    2,
  ],
  ['a part that begins behind what came', { begins: (from) => from + 1 }, 2],
  ['a part that does not say where it begins', { range: () => 'bytes' }, 2],
  ['a refusal of the range', { status: 416 }, 2],
  ['a refusal of the link', { status: 403 }, 2],
  ['a few bytes a connection', { most: () => 9000 }, 1],
  ['a few bytes a connection after many', { most: (count) => (count === 1 ? 120_000 : 9000) }, 2],
])('the next try begins again if there is %s', async (_what, host, asked) => {
  const { result, ranges } = await saved(host);
  expect(errorOf(result)).toMatchObject({ code: 'download.truncated', class: 'retry' });
  expect(ranges).toHaveLength(asked);
});
