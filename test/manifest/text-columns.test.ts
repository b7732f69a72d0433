import { describe, expect, it } from 'vitest';
import { hasAccount, textFields } from '../../src/manifest/text-columns.ts';
import type { Artifact, JobRecord } from '../../src/plan/job.ts';
import type { TextCandidate } from '../../src/plan/job-request.ts';
import type { Slot } from '../../src/plan/slot.ts';
import { imagineRecord, textRecord } from '../rig/jobs.ts';

const candidate = (text: string, finishReason?: string): TextCandidate => ({
  text,
  isJson: false,
  parts: [],
  ...(finishReason !== undefined && { finishReason }),
});
const file = (mime: string, of?: number): Artifact => ({
  output: 1,
  file: 'f',
  bytes: 1,
  sha256: 's',
  mime,
  ...(of !== undefined && { candidate: of }),
});
const fieldsOf = (record: JobRecord | undefined, artifact?: Artifact, job?: Slot['job']) =>
  textFields({ ...(record && { record }), ...(job && { job }) } as Slot, artifact);

describe('the text columns', () => {
  const two = textRecord({
    text: { model: 'm-2', candidates: [candidate('first', 'STOP'), candidate('second', 'LENGTH')] },
  });

  it('of a file show the candidate of that file', () => {
    expect(fieldsOf(two, file('text/plain', 1))).toEqual({
      text: 'first',
      model: 'm-2',
      finishReason: 'STOP',
    });
    expect(fieldsOf(two, file('text/plain', 2))).toEqual({
      text: 'second',
      model: 'm-2',
      finishReason: 'LENGTH',
    });
    expect(fieldsOf(two, file('application/json'))).toEqual({
      text: 'first',
      model: 'm-2',
      finishReason: 'STOP',
    });
    expect(fieldsOf(two, file('text/plain', 3))).toEqual({ model: 'm-2' });
  });

  it('of a slot without a file show the first candidate', () => {
    expect(fieldsOf(two)).toEqual({ text: 'first', model: 'm-2', finishReason: 'STOP' });
  });

  it('of an image in a reply show no text', () => {
    expect(fieldsOf(two, file('image/png', 1))).toEqual({ model: 'm-2', finishReason: 'STOP' });
  });

  it('show why there is no text, and no empty text', () => {
    const blocked = textRecord({ text: { candidates: [], blockReason: 'SAFETY' } });
    expect(fieldsOf(blocked)).toEqual({ model: 'text-pro', blockReason: 'SAFETY' });
    const silent = textRecord({ text: { candidates: [candidate('', 'STOP')] } });
    expect(fieldsOf(silent)).toEqual({ model: 'text-pro', finishReason: 'STOP' });
  });

  it('show the requested model before a reply, if it is known', () => {
    expect(fieldsOf(textRecord())).toEqual({ model: 'text-pro' });
    const request = { kind: 'generate', fields: { model: 7 } } as unknown as JobRecord['request'];
    expect(fieldsOf(textRecord({ request }))).toEqual({});
    expect(fieldsOf(undefined, undefined, { request: textRecord().request } as Slot['job'])).toEqual({
      model: 'text-pro',
    });
  });

  it('of image jobs are empty, except for the model that described an image', () => {
    expect(fieldsOf(imagineRecord())).toEqual({});
    expect(fieldsOf(undefined)).toEqual({});
    const described = (prompts?: readonly string[]): JobRecord =>
      imagineRecord({
        kind: 'describe',
        request: { kind: 'describe', fields: {} } as unknown as JobRecord['request'],
        ...(prompts && { result: { buttons: [], prompts } }),
      });
    expect(fieldsOf(described(['one', 'two']))).toEqual({ text: 'one\n\ntwo' });
    expect(fieldsOf(described(['one', 'two']), file('text/plain'))).toEqual({ text: 'one\n\ntwo' });
    expect(fieldsOf(described(['one', 'two']), file('image/png'))).toEqual({});
    expect(fieldsOf(described([]))).toEqual({});
    expect(fieldsOf(described())).toEqual({});
  });
});

describe('the account of a job', () => {
  it.each<[string, Partial<JobRecord>, boolean]>([
    ['nothing', {}, false],
    ['a cost of 0', { cost: 0 }, true],
    ['tokens', { usage: {} }, true],
    ['submissions without a result', { doubtful: { count: 1 } }, true],
    ['assumed tokens', { assumed: { answers: 1, tokens: 0 } }, true],
  ])('%s', (_what, changes, has) => {
    expect(hasAccount(imagineRecord(changes))).toBe(has);
  });
});
