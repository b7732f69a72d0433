import { expect, it } from 'vitest';
import { claimPlace, ownerName } from '../../../../src/artifacts/store/s3/claim.ts';
import { codeOf, openRig } from './rig.ts';

const owner = { id: 'one', pipeline: 'foxes' };

it('takes an empty place, and recognises it again', async () => {
  const { fake, client } = await openRig();
  expect(await claimPlace(client, owner)).toEqual({ honoursConditions: true });
  expect([...fake.objects.keys()]).toEqual([`a run/é+1/${ownerName}`]);
  const before = fake.requests.length;
  expect(await claimPlace(client, owner)).toEqual({ honoursConditions: true });
  expect(fake.requests.length - before).toBe(2);
});

it('refuses a place that another run owns, or that contains something else', async () => {
  const { fake, client } = await openRig();
  await claimPlace(client, owner);
  expect(await claimPlace(client, { ...owner, id: 'two' })).toMatchObject({
    message: expect.stringContaining('belongs to another run, of the pipeline "foxes"'),
  });
  fake.store(`a run/é+1/${ownerName}`, '{broken');
  expect(await claimPlace(client, owner)).toMatchObject({ message: expect.stringContaining('another run') });
  fake.remove(`a run/é+1/${ownerName}`);
  fake.store('a run/é+1/holiday.jpg', 'x');
  const before = fake.objects.size;
  expect(await claimPlace(client, owner)).toMatchObject({
    message: expect.stringContaining('"holiday.jpg" lies'),
  });
  expect(fake.objects.size).toBe(before);
});

it('ignores folders that a console has made, and sees their contents', async () => {
  const { fake, client } = await openRig();
  for (const folder of ['', 'images/', 'images/ab/']) fake.store(`a run/é+1/${folder}`, '');
  expect(await claimPlace(client, owner)).toEqual({ honoursConditions: true });
  fake.remove(`a run/é+1/${ownerName}`);
  fake.store('a run/é+1/images/no folder/', 'but content');
  expect(await claimPlace(client, owner)).toMatchObject({
    message: expect.stringContaining('"images/no folder/" lies there'),
  });
});

it('gives a place to one of two runs that claim it at once', async () => {
  const { client } = await openRig();
  const claims = await Promise.all(['one', 'two'].map((id) => claimPlace(client, { ...owner, id })));
  expect(claims.filter((claim) => 'honoursConditions' in claim)).toHaveLength(1);
});

it('finds out whether the store obeys conditions', async () => {
  const { client } = await openRig({ ignoresConditions: true });
  expect(await claimPlace(client, owner)).toEqual({ honoursConditions: false });
});

it('reports what is wrong with the store', async () => {
  const { client } = await openRig({ bucket: 'other' });
  expect(await codeOf(claimPlace(client, owner))).toBe('s3.no-bucket, stop');
  const unreadable = await openRig({
    fault: ({ key }) => (key.endsWith(ownerName) ? { status: 403, code: 'AccessDenied' } : undefined),
  });
  expect(await codeOf(claimPlace(unreadable.client, owner))).toBe('s3.denied, stop');
  expect(unreadable.fake.requests).toHaveLength(1);
  const denied = await openRig({
    fault: ({ method }) => (method === 'PUT' ? { status: 403, code: 'AccessDenied' } : undefined),
  });
  expect(await codeOf(claimPlace(denied.client, owner))).toBe('s3.denied, stop');
});
