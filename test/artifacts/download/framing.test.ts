import pLimit from 'p-limit';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import type { ArtifactStore } from '../../../src/artifacts/store/store.ts';
import { connectionPool } from '../../../src/service/http/connect/pool.ts';
import { certificates } from '../../rig/certificates.ts';
import {
  type FramedAnswer,
  type FramingServer,
  framingNames,
  framings,
  pictureOf,
  type SizedCell,
  sizes,
  startFramingServer,
} from '../../rig/framing.ts';
import { makePng } from '../../rig/png.ts';
import { freshFolder, startServer, startWriter } from '../places.ts';
import { always } from './download-rig.ts';

/** By hand: `PROMPTPRESS_DOWNLOADS=3000 npx vitest run test/artifacts/download/framing.test.ts`. */
const downloads = Number(process.env['PROMPTPRESS_DOWNLOADS'] ?? 0);

const pictures = new Map(sizes.map((size) => [size, pictureOf(size)]));
const servers: { plain?: FramingServer; tls?: FramingServer } = {};
const agent = new Agent({ factory: connectionPool, connect: { ca: certificates.ca } });

beforeAll(async () => {
  const answers = (path: string): FramedAnswer => {
    const [, size, framing] = path.split('/').map(Number);
    return {
      bytes: pictures.get(size as Cell['size']) ?? Buffer.alloc(0),
      type: 'image/png',
      framing: framingNames[framing ?? 0] ?? 'length',
    };
  };
  servers.plain = await startFramingServer(false, answers);
  servers.tls = await startFramingServer(true, answers);
});

afterAll(async () => {
  await agent.destroy();
  await servers.plain?.[Symbol.asyncDispose]();
  await servers.tls?.[Symbol.asyncDispose]();
});

/** A disk that takes its time: what comes meanwhile, the end of the connection too, has come by then. */
const slow = (store: ArtifactStore): ArtifactStore => ({
  get: store.get.bind(store),
  open: store.open.bind(store),
  list: store.list.bind(store),
  remove: store.remove.bind(store),
  close: store.close.bind(store),
  put: async (path) => {
    const file = await store.put(path);
    const write = file.write.bind(file);
    file.write = async (chunk) => {
      for (let turn = 0; turn < 30; turn += 1) await new Promise(setImmediate);
      await write(chunk);
    };
    return file;
  },
});

interface Cell extends SizedCell {
  readonly isTls: boolean;
  readonly isSlow: boolean;
  readonly isSplit: boolean;
}

/** Every framing with every size; kinds of connections, slow disks and split grids with each of them, if not with all at once. */
const cells: readonly Cell[] = framingNames.flatMap((framing, f) =>
  sizes.map((size, s) => ({
    framing,
    size,
    isTls: (f + s) % 2 === 0,
    isSlow: (f + Math.floor(s / 2)) % 2 === 0,
    isSplit: size < 1_000_000 && (f + 2 * s) % 4 === 0,
  })),
);

async function play(cell: Cell, n: number): Promise<string> {
  const { framing, size, isTls, isSlow, isSplit } = cell;
  const server = isTls ? servers.tls : servers.plain;
  const directory = freshFolder();
  const folder = openArtifactFolder(directory);
  const writer = startWriter(directory, {
    store: isSlow ? slow(folder) : folder,
    baseUrl: server?.url ?? '',
    ...(isTls ? { dispatcher: agent } : {}),
  });
  const key = `k${n}`;
  const url = `${server?.url}/${size}/${framingNames.indexOf(framing)}`;
  const saved = await writer.save({ url, key, output: 1 }, always);
  if (!saved.ok) return `${saved.error.code} ${saved.error.class}`;
  if (!isSplit) return `saved ${saved.value.bytes}`;
  const cut = await writer.cut({ key, grid: saved.value }, always);
  return `saved ${saved.value.bytes}${cut.ok && cut.value.length === 4 ? '' : ' but not cut'}`;
}

function expectedOf({ framing, size }: Cell): string {
  if (!framings[framing].whole || size === 0) return 'download.truncated retry';
  return size === 1 ? 'download.not-image permanent' : `saved ${size}`;
}

describe('downloads of every framing and size, over plain connections and TLS, to fast disks and slow ones', () => {
  test(`${cells.length} cells: whole files are saved, the others are truncated, and nothing is thrown`, async () => {
    const limit = pLimit(12);
    const rounds = Math.max(1, Math.ceil(downloads / cells.length));
    for (let round = 0; round < rounds; round += 1) {
      const found = await Promise.all(
        cells.map((cell, n) =>
          limit(async () => {
            const [isTls, isSlow] = [cell.isTls !== round % 4 > 1, cell.isSlow !== (round % 2 === 1)];
            return [cell, await play({ ...cell, isTls, isSlow }, n)];
          }),
        ),
      );
      expect(found).toEqual(cells.map((cell) => [cell, expectedOf(cell)]));
    }
  }, 600_000);
});

test('a disk that accepts nothing leaves the rest of a file at its server, and cancelling discards what has come', async () => {
  const chunk = Buffer.alloc(65_536, 'x');
  let written = 0;
  const server = await startServer((_request, response) => {
    response.write(makePng(1).subarray(0, -12));
    const more = (): void => {
      while (written < 128 * 1024 * 1024) {
        written += chunk.length;
        if (!response.write(chunk)) break;
      }
      response.once('drain', more);
    };
    more();
  });
  const directory = freshFolder();
  const store = openArtifactFolder(directory);
  let isWriting = false;
  const never: ArtifactStore = {
    ...slow(store),
    put: async (path) => {
      const file = await store.put(path);
      file.write = () => {
        isWriting = true;
        return new Promise(() => undefined);
      };
      return file;
    },
  };
  const stop = new AbortController();
  const writer = startWriter(directory, { store: never });
  void writer.save({ url: server.url, key: 'ab', output: 1 }, stop.signal);
  // oxlint-disable-next-line no-unmodified-loop-condition -- the writer sets it
  while (!isWriting) await new Promise(setImmediate);
  // The machine's own buffers fill up, and the server comes to rest.
  let before = 0;
  while (written !== before) {
    before = written;
    for (let turn = 0; turn < 300; turn += 1) await new Promise(setImmediate);
  }
  expect(written).toBeLessThan(32 * 1024 * 1024);
  stop.abort(new Error('enough'));
});
