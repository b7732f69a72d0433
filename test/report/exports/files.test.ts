import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { openWhole } from '../../../src/report/exports/files.ts';

const mime = 'image/png';

it.each([
  ['small', 10],
  ['large', 17 * 1024 * 1024],
])('a %s file of a run is closed once its bytes are read, whole or changed', async (_, bytes) => {
  const content = Buffer.alloc(bytes, 'a');
  let open = 0;
  const artifacts = {
    open: () => {
      open += 1;
      return Promise.resolve({
        ok: true as const,
        bytes,
        async *pieces() {
          yield content;
        },
        close: () => {
          open -= 1;
          return Promise.resolve();
        },
      });
    },
  };
  const sha256 = hash('sha256', content, 'hex');
  const row = { output: 1, file: 'a.png', mime, bytes, sha256 };
  const whole = await openWhole(artifacts, row);
  if (typeof whole === 'string') throw new Error(whole);
  const read: Uint8Array[] = [];
  for await (const piece of whole.pieces()) read.push(piece);
  await whole.close();
  expect([Buffer.concat(read).equals(content), open]).toEqual([true, 0]);
  for (const other of [{ sha256: 'f'.repeat(64) }, { bytes: bytes + 1 }])
    expect([await openWhole(artifacts, { ...row, ...other } as never), open]).toEqual(['changed', 0]);
});
