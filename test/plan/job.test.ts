import { describe, expect, test } from 'vitest';
import type { JobErrorCode } from '../../src/pipeline/diagnostics/job-errors.ts';
import { isTextKind } from '../../src/pipeline/kinds.ts';
import type { StepKind } from '../../src/pipeline/pipeline.ts';
import type { FormerResult } from '../../src/plan/job.ts';
import { inputsOf, isSettled, type JobStatus, knownCost, needsOf } from '../../src/plan/job.ts';
import { extendsParent, isTextRequest, type JobRequest } from '../../src/plan/job-request.ts';
import { lacksFilesYet, lacksOnlyFiles } from '../../src/plan/resolve/former.ts';
import { imagineRecord } from '../rig/jobs.ts';

const click: JobRequest = { kind: 'click', press: [], fields: {} };

describe('the jobs that a job needs', () => {
  test('are its parent, or all gathered jobs, in order and with repetitions', () => {
    expect(inputsOf({})).toEqual([]);
    expect(inputsOf({ parent: 'a' })).toEqual(['a']);
    expect(inputsOf({ inputs: ['b', 'a', 'b'] })).toEqual(['b', 'a', 'b']);
  });

  test('are the inputs of a click; for other jobs, shown and continued jobs follow', () => {
    expect(needsOf({ parent: 'a', request: click })).toEqual(['a']);
    const images = [{ job: 's' }, { url: 'https://x.test' }, { sha256: 'f' }, { job: 't' }];
    expect(needsOf({ inputs: ['a', 'b'], request: { kind: 'blend', fields: {}, images } })).toEqual([
      'a',
      'b',
      's',
      't',
    ]);
    expect(needsOf({ parent: 'a', request: { kind: 'chat', fields: {}, images, continues: 'c' } })).toEqual([
      'a',
      's',
      't',
      'c',
    ]);
    expect(needsOf({ request: { kind: 'imagine', fields: {} } })).toEqual([]);
  });
});

test.each<readonly [JobStatus, boolean]>([
  ['pending', false],
  ['submitting', false],
  ['running', false],
  ['modal', false],
  ['saving', false],
  ['done', true],
  ['failed', true],
  ['in-doubt', true],
])('a job that is %s is left alone: %s', (status, settled) => {
  expect(isSettled(status)).toBe(settled);
});

describe('a job lacks only its files', () => {
  const result = { buttons: [] };
  const error = (code: JobErrorCode) => ({ code, message: '' });

  test.each([
    ['where their download failed', { status: 'failed', result, error: error('download.status') }, true],
    ['where it failed without a code', { status: 'failed', result }, true],
    ['not where it has no result', { status: 'failed', error: error('task.failed') }, false],
    [
      'not where the service lost its task',
      { status: 'failed', result, error: error('service.task-unknown') },
      false,
    ],
    [
      'not where its prompts are not there',
      { status: 'failed', result, error: error('download.no-prompts') },
      false,
    ],
    ['not while they are fetched', { status: 'saving', result }, false],
    ['not where it is done', { status: 'done', result }, false],
    ['not while it is in doubt', { status: 'in-doubt', result }, false],
  ] as const)('%s', (_, changes, expected) => {
    expect(lacksOnlyFiles(imagineRecord(changes))).toBe(expected);
  });
});

test('a finished task lacks its files while they are downloaded, unless it replaces another one', () => {
  const saving = { status: 'saving', result: { buttons: [] } } as const;
  expect(lacksFilesYet(imagineRecord(saving))).toBe(true);
  expect(lacksFilesYet(imagineRecord({ ...saving, status: 'done' }))).toBe(false);
  expect(lacksFilesYet(imagineRecord({ status: 'saving' }))).toBe(false);
  const former = { attempts: 1, artifacts: [] } as unknown as FormerResult;
  expect(lacksFilesYet(imagineRecord({ ...saving, former }))).toBe(false);
});

test('a cost is known if all its parts are, 0 included', () => {
  expect(knownCost({ cost: 0 })).toBe(0);
  expect(knownCost({ cost: 2 })).toBe(2);
  expect(knownCost({})).toBeUndefined();
  expect(knownCost({ cost: 2, partlyPriced: true })).toBeUndefined();
});

test('only a video that is extended continues a task of its parent', () => {
  const video = (fields: { extend?: number }): JobRequest => ({ kind: 'video', fields, images: [] });
  expect(extendsParent(video({ extend: 1 }))).toBe(true);
  expect(extendsParent(video({ extend: 4 }))).toBe(true);
  expect(extendsParent(video({}))).toBe(false);
  expect(extendsParent({ kind: 'edit', fields: { extend: 1 }, images: [] })).toBe(false);
});

test.each<readonly [StepKind, boolean]>([
  ['generate', true],
  ['chat', true],
  ['imagine', false],
  ['click', false],
  ['blend', false],
  ['describe', false],
  ['shorten', false],
  ['video', false],
  ['edit', false],
])('%s asks for text: %s', (kind, isText) => {
  expect(isTextKind(kind)).toBe(isText);
  expect(isTextRequest({ kind, fields: {} } as JobRequest)).toBe(isText);
});
