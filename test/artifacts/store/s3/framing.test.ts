import { Agent } from 'undici';
import { expect, test } from 'vitest';
import { S3Client } from '../../../../src/artifacts/store/s3/client.ts';
import { readS3Settings } from '../../../../src/artifacts/store/s3/settings.ts';
import { connectionPool } from '../../../../src/service/http/connect/pool.ts';
import { sizes as allSizes, framingNames, framings, startFramingServer } from '../../../rig/framing.ts';
import { QuickClock } from './rig.ts';

const sizes = allSizes.filter((size) => size <= 1_000_000);
const content = Buffer.alloc(1_000_000);
for (let at = 0; at < content.length; at += 4) content.writeUInt32LE(at, at);

test('objects of every framing and size are read whole, in documents and in pieces, by a slow reader', async () => {
  for (const framing of framingNames) {
    // The first answer is framed so; the ones after it end well, from where it broke off.
    let isFirst = true;
    await using server = await startFramingServer(false, (path, request) => {
      const size = Number(/\/(\d+)$/.exec(path)?.[1]);
      const from = Number(/range: bytes=(\d+)-/i.exec(request)?.[1] ?? 0);
      const answer = { type: 'image/png', status: /range:/i.test(request) ? 206 : 200 };
      const framed = {
        ...answer,
        bytes: content.subarray(from, size),
        framing: isFirst ? framing : 'length',
      } as const;
      isFirst = false;
      return framed;
    });
    const address = { bucket: 'pictures', prefix: '' };
    const dispatcher = new Agent({ factory: connectionPool });
    const client = await S3Client.open({
      address,
      settings: readS3Settings(address, {
        AWS_ENDPOINT_URL: server.url,
        AWS_REGION: 'eu-1',
        AWS_ACCESS_KEY_ID: 'id',
        AWS_SECRET_ACCESS_KEY: 'a secret of a bucket',
      }),
      dispatcher,
      clock: new QuickClock(),
      random: () => 0.5,
      patienceMs: 180_000,
      signal: new AbortController().signal,
    });
    for (const size of sizes) {
      isFirst = true;
      const asked = server.asked;
      const document = await client.ask({
        method: 'GET',
        name: String(size),
        doing: 'read',
        maxBytes: 8_000_000,
      });
      expect([framing, size, document.body.equals(content.subarray(0, size))]).toEqual([framing, size, true]);
      expect([framing, size, server.asked - asked]).toEqual([framing, size, framings[framing].whole ? 1 : 2]);
      isFirst = true;
      const pieces: Buffer[] = [];
      for await (const piece of client.pieces(String(size), '"tag"', 0, size)) {
        for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
        pieces.push(piece);
      }
      expect([framing, size, Buffer.concat(pieces).equals(content.subarray(0, size))]).toEqual([
        framing,
        size,
        true,
      ]);
    }
    client.close();
    await dispatcher.destroy();
  }
});
