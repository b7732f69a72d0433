import { expect, it } from 'vitest';
import { countNameOf, countNames } from '../../../../src/artifacts/store/counts.ts';
import { bucketCounts, countObjects } from '../../../../src/artifacts/store/s3/counts.ts';
import { codeOf, openRig } from './rig.ts';

it('counts submissions of any number of workers in a bucket, in a bounded number of objects, and never decreases', async () => {
  const { fake, client } = await openRig();
  const counts = bucketCounts(client);
  expect(await counts.highest()).toBe(0);
  for (let worker = 1; worker <= 60; worker += 1) await counts.raise(`worker-${worker}`, worker);
  expect(await counts.highest()).toBe(60);
  const names = [...fake.objects.keys()].map((key) => key.replace('a run/é+1/', ''));
  expect(names.every((name) => countObjects.has(name))).toBe(true);
  expect(countObjects.size).toBe(countNames.length);
  await counts.raise('worker-60', 7);
  expect(await counts.highest()).toBe(60);
});

it('refuses an object that does not contain a count', async () => {
  const { fake, client } = await openRig();
  fake.store(`a run/é+1/.promptpress-${countNameOf('one')}`, 'forty');
  expect(await codeOf(bucketCounts(client).highest())).toBe('s3.failed, stop');
});
