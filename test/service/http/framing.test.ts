import pLimit from 'p-limit';
import { Agent, type Dispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { BodyPool } from '../../../src/service/http/body/budget.ts';
import { connectionPool } from '../../../src/service/http/connect/pool.ts';
import { certificates } from '../../rig/certificates.ts';
import {
  sizes as allSizes,
  type FramingName,
  framingNames,
  framings,
  type SizedCell,
  startFramingServer,
} from '../../rig/framing.ts';
import { imagine, never, serviceWith } from '../scripted-fetch.ts';
import { event } from '../text/streams.ts';
import { call, textServiceWith } from '../text/text-service.ts';

const accepted = JSON.stringify({ code: 1, description: '', result: '1700000000000001' });
const finished = `data: ${JSON.stringify(event([{ text: 'a' }], { finishReason: 'STOP' }))}\n\n`;

const sizes = allSizes.filter((size) => size <= 1_000_000);

/** Padded to a size, or cut to it. */
const padded = (text: string, size: number): Buffer =>
  size < text.length ? Buffer.from(text.slice(0, size)) : Buffer.alloc(size, ' ').fill(text, 0, text.length);

/** Comments to a size, and then the event. */
const stream = (size: number): Buffer =>
  size < finished.length
    ? Buffer.alloc(0)
    : Buffer.concat([
        Buffer.alloc(size - finished.length, ': ping\n\n').fill(
          '\n',
          Math.max(0, size - finished.length - 8),
        ),
        Buffer.from(finished),
      ]);

/** Asks a server for every framing and size, many at once, with room for a few bytes: readers wait for each other. */
async function cells<T>(
  isTls: boolean,
  bytesOf: (size: number) => Buffer,
  ask: (baseUrl: string, via: { dispatcher: Dispatcher; bodies: BodyPool }) => Promise<T>,
): Promise<readonly (readonly [SizedCell, T])[]> {
  const found = await Promise.all(
    framingNames.map(async (framing) => {
      await using server = await startFramingServer(isTls, (path) => ({
        bytes: bytesOf(Number(/^\/(\d+)\//.exec(path)?.[1])),
        type: 'application/json',
        framing,
      }));
      const dispatcher = new Agent({ factory: connectionPool, connect: { ca: certificates.ca } });
      const bodies = new BodyPool(100_000);
      const limit = pLimit(14);
      const asked = await Promise.all(
        sizes.map((size) =>
          limit(
            async () =>
              [{ framing, size }, await ask(`${server.url}/${size}`, { dispatcher, bodies })] as const,
          ),
        ),
      );
      await dispatcher.destroy();
      return asked;
    }),
  );
  return found.flat();
}

const isWhole = (framing: FramingName, size: number, least: string): boolean =>
  framings[framing].whole && size >= least.length;

test.each([false, true])(
  'replies of every framing and size are read whole or fail separately (TLS: %s)',
  async (isTls) => {
    const found = await cells(
      isTls,
      (size) => padded(accepted, size),
      async (baseUrl, via) => {
        const service = serviceWith({ baseUrl, ...via });
        onTestFinished(() => service.close());
        return (await imagine(service)).ok;
      },
    );
    expect(found).toEqual(found.map(([cell]) => [cell, isWhole(cell.framing, cell.size, accepted)]));
    expect(found).toHaveLength(framingNames.length * sizes.length);
  },
);

test.each([false, true])(
  'event streams of every framing and size are read whole or fail separately (TLS: %s)',
  async (isTls) => {
    const found = await cells(isTls, stream, async (baseUrl, via) => {
      const service = textServiceWith({ baseUrl, ...via });
      onTestFinished(() => service.close());
      const answer = await service.ask(call({ prompt: 'a' }, { stream: true }), never);
      return answer.ok;
    });
    expect(found.filter(([{ framing, size }, ok]) => ok !== isWhole(framing, size, finished))).toEqual([]);
  },
);
