import { expect, test } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { nearestPrompt, promptAbove } from '../../../src/plan/resolve/nearest-prompt.ts';
import { clickRecord, imagineRecord, textRecord } from '../../rig/jobs.ts';

const grid = imagineRecord({ key: 'grid', request: { kind: 'imagine', fields: { prompt: 'a fox' } } });
const described = imagineRecord({
  key: 'words',
  kind: 'describe',
  parent: 'grid',
  request: { kind: 'describe', fields: {}, images: [{ job: 'grid' }] },
  result: { prompts: ['one', 'two'], buttons: [] },
});
const press = (customId: string) => ({ customId, label: '', emoji: '' });
const click = (
  key: string,
  parent: string,
  customId: string,
  fields: Readonly<Record<string, string | boolean>> = {},
): JobRecord =>
  clickRecord({ key, parent, pressed: press(customId), request: { kind: 'click', press: [], fields } });
const records = [
  grid,
  described,
  click('upscale', 'grid', 'IMG::JOB::upsample::1::x'),
  click('two', 'words', 'IMG::Job::PicReader::2'),
  click('nine', 'words', 'IMG::Job::PicReader::9'),
  click('again', 'words', 'IMG::Picread::Retry'),
  click('varied', 'two', 'IMG::JOB::variation::1::x', { remix: true }),
  click('twice', 'varied', 'IMG::JOB::variation::1::y', { remix: true }),
  click('mine', 'words', 'IMG::Job::PicReader::2', { prompt: 'an owl' }),
  click('ofMine', 'mine', 'IMG::JOB::variation::1::x', { remix: true }),
  textRecord({ key: 'text', parent: 'grid' }),
  click('ofText', 'text', 'IMG::JOB::variation::1::x'),
  click('lost', 'nowhere', 'IMG::JOB::variation::1::x'),
];
const lookup = (key: string) => records.find((record) => record.key === key);

test.each([
  ['its own', 'grid', 'a fox'],
  ['that of what it upscales', 'upscale', 'a fox'],
  ['what a describe suggested for its button', 'two', 'two'],
  ['the same below it', 'varied', 'two'],
  ['the same further below', 'twice', 'two'],
  ['its own before a suggestion', 'mine', 'an owl'],
  ['that before a suggestion above', 'ofMine', 'an owl'],
  ['none where the describe suggested no such prompt', 'nine', undefined],
  ['none of what the image of a describe was drawn from', 'again', undefined],
  ['none of what a model was asked', 'ofText', undefined],
  ['none of a job that is not on record', 'lost', undefined],
])('the nearest prompt is %s', (_, key, prompt) => {
  expect(nearestPrompt(lookup(key) as JobRecord, lookup)).toBe(prompt);
});

test.each([
  ['not its own', 'mine', 'two'],
  ['what a describe suggested for its button', 'two', 'two'],
  ['that of a job that says one', 'ofMine', 'an owl'],
  ['none above the first job', 'grid', undefined],
])('the prompt above a job is %s', (_, key, prompt) => {
  expect(promptAbove(lookup(key) as JobRecord, lookup)).toBe(prompt);
});

test('a state in which jobs continue each other in a circle ends the search', () => {
  const circle = click('circle', 'circle', 'IMG::JOB::variation::1::x');
  expect(nearestPrompt(circle, () => circle)).toBeUndefined();
});
