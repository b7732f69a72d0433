import { expect, it } from 'vitest';
import { imagineDrawing } from '../../../src/sandbox/draw/lineage.ts';
import { Studio } from '../../../src/sandbox/draw/studio.ts';
import { parsePrompt } from '../../../src/sandbox/prompt/flags.ts';

it('rejects the waiting pictures when it is closed, and waits for those in progress', async () => {
  const studio = new Studio({ pixels: 64, drawers: 1, imageCache: 1_000_000 }, () => {
    throw new Error('No picture has another one in it.');
  });
  const drawn = Array.from({ length: 20 }, (_, at) =>
    studio.picture(imagineDrawing(parsePrompt(`fox ${at}`))),
  );
  const settled = Promise.allSettled(drawn);
  await drawn[0];
  await studio.close();
  const kinds = (await settled).map(({ status }) => status);
  expect(kinds.filter((status) => status === 'fulfilled').length).toBeLessThan(4);
});
