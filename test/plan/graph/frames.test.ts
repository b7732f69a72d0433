import { describe, expect, it } from 'vitest';
import { framesError, gridOf, isUncut, maxGridPixels } from '../../../src/plan/graph/frames.ts';
import type { Artifact, JobRecord, TaskResult } from '../../../src/plan/job.ts';
import { framesOf, gridButtons } from '../../rig/frames.ts';
import { imagineRecord } from '../../rig/jobs.ts';

const file = (changes: Partial<Artifact> = {}): Artifact => ({
  output: 1,
  file: 'images/aa/aa11-1.png',
  bytes: 5,
  sha256: 'h',
  mime: 'image/png',
  width: 2048,
  height: 1024,
  ...changes,
});
const done = (changes: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({
    status: 'done',
    result: { imageUrl: 'https://i/1', buttons: gridButtons },
    artifacts: [file()],
    ...changes,
  });
const labels = (...names: readonly string[]): TaskResult => ({
  buttons: names.map((label) => ({ label, emoji: '', customId: 'x' })),
});

describe('a grid', () => {
  it('is one image of an even size whose task offers U1 to U4', () => {
    expect(gridOf(done())).toEqual({ ok: true, file: file() });
    expect(isUncut(done())).toBe(true);
  });

  it('is recognised by labels, or by customIds without labels', () => {
    expect(gridOf(done({ result: labels('V1', ' U4', 'U3', 'U2', 'U1') }))).toMatchObject({ ok: true });
    const unnamed = gridButtons.map((button) => ({ ...button, label: '' }));
    expect(gridOf(done({ result: { buttons: unnamed } }))).toMatchObject({ ok: true });
  });

  it.each([
    ['an upscaled image', done({ result: labels('Upscale (Subtle)', 'Vary (Strong)') }), 'frames.no-grid'],
    ['three of the four buttons', done({ result: labels('U1', 'U2', 'U4') }), 'frames.no-grid'],
    ['no button', done({ result: labels() }), 'frames.no-grid'],
    ['an odd width', done({ artifacts: [file({ width: 2047 })] }), 'frames.odd-size'],
    ['an odd height', done({ artifacts: [file({ height: 1023 })] }), 'frames.odd-size'],
    ['no size', done({ artifacts: [{ ...file(), width: 0, height: 0 }] }), 'frames.odd-size'],
    [
      'a hostile size',
      done({ artifacts: [file({ width: 100_000, height: maxGridPixels / 50_000 + 0.8 })] }),
      'frames.odd-size',
    ],
    ['too many pixels', done({ artifacts: [file({ width: 16_384, height: 8192 })] }), 'frames.too-large'],
  ])('is not %s, with a reason', (_, record, code) => {
    expect(gridOf(record)).toMatchObject({ ok: false, error: { code } });
    expect(framesError(record)?.code).toBe(code);
    expect(isUncut(record)).toBe(false);
  });

  it('is cut up to exactly 8192 × 8192 pixels', () => {
    expect(isUncut(done({ artifacts: [file({ width: 8192, height: 8192 })] }))).toBe(true);
    expect(isUncut(done({ artifacts: [file({ width: 8192, height: 8194 })] }))).toBe(false);
  });

  it.each([
    ['nothing was downloaded', done({ artifacts: [] })],
    ['there are several files', done({ artifacts: [file(), file({ output: 2 })] })],
    ['its file is a video', done({ artifacts: [file({ mime: 'video/mp4' })] })],
    ['it shows videos', done({ result: { buttons: gridButtons, videoUrls: ['https://v/1'] } })],
    ['it is a text', imagineRecord({ status: 'done' })],
  ])('is not expected if %s', (_, record) => {
    expect(gridOf(record)).toBeUndefined();
    expect(framesError(record)).toBeUndefined();
    expect(isUncut(record)).toBe(false);
  });

  it('is cut once, and not again if cutting failed', () => {
    expect(isUncut(done({ frames: { files: framesOf('aa11', file()) } }))).toBe(false);
    const error = { code: 'frames.unreadable' as const, message: 'm' };
    const failed = done({ frames: { files: [], error } });
    expect(isUncut(failed)).toBe(false);
    expect(framesError(failed)).toEqual(error);
  });

  it('keeps the frames that it has while its job is redone', () => {
    expect(isUncut(done({ former: { resubmits: 0 } }))).toBe(false);
  });
});
