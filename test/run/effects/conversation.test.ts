import { describe, expect, it } from 'vitest';
import { largestInput } from '../../../src/artifacts/inputs.ts';
import type { Artifact, JobRecord } from '../../../src/plan/job.ts';
import type { ImageSource, TextRequest, TextResult } from '../../../src/plan/job-request.ts';
import { conversationOf, MissingInput, shownImages } from '../../../src/run/effects/conversation.ts';
import { imagineRecord, textRecord } from '../../rig/jobs.ts';

const request = (prompt: string, changes: Partial<TextRequest> = {}): TextRequest => ({
  kind: 'generate',
  fields: { prompt },
  ...changes,
});
const answer = (...parts: readonly (string | object)[]): TextResult => ({
  candidates: [{ text: 't', isJson: false, parts: parts as never }],
});
const picture = (output: number, bytes: number, mime = 'image/png'): Artifact => ({
  output,
  file: `${output}.png`,
  bytes,
  sha256: `h${output}`,
  mime,
});
const lookupOf = (...records: readonly JobRecord[]) => {
  const byKey = new Map(records.map((record) => [record.key, record]));
  return (key: string): JobRecord | undefined => byKey.get(key);
};
const wholeInput = 4 * Math.ceil(largestInput / 3);

describe('a conversation', () => {
  it('contains the jobs that it continues, the oldest first, then its own', () => {
    const first = textRecord({ key: 'a', request: request('1'), text: answer({ text: 'one' }) });
    const second = textRecord({
      key: 'b',
      request: request('2', { continues: 'a' }),
      turns: [{ role: 'model', parts: [{ text: 'call' }] }, { parts: [] }, 'x'],
      text: answer({ text: 'two' }),
    });
    const own = textRecord({
      key: 'c',
      request: request('3', { continues: 'b' }),
      turns: [{ role: 'model', parts: [{ text: 'again' }] }],
      text: answer({ text: 'former' }),
    });
    const turns = conversationOf(own, lookupOf(first, second));
    expect(turns.map(({ request: { fields } }) => fields['prompt'])).toEqual(['1', '2', '3']);
    expect(turns.map(({ after }) => after)).toEqual([
      [{ role: 'model', parts: [{ part: { text: 'one' } }] }],
      [
        { role: 'model', parts: [{ part: { text: 'call' } }] },
        { role: 'user', parts: [] },
        { role: 'user', parts: [] },
        { role: 'model', parts: [{ part: { text: 'two' } }] },
      ],
      // Its own reply, which is to be replaced, is no part of it.
      [{ role: 'model', parts: [{ part: { text: 'again' } }] }],
    ]);
  });

  it('shows the files of each job from that job’s paths', () => {
    const shows = (sha256: string) => ({ images: [{ sha256 }] });
    const first = textRecord({
      key: 'a',
      files: { h: 'old.png' },
      request: request('1', shows('h')),
      text: answer({ text: 'one' }),
    });
    const own = textRecord({
      key: 'b',
      files: { h: 'new.png' },
      request: request('2', { ...shows('h'), continues: 'a' }),
    });
    const turns = conversationOf(own, lookupOf(first));
    expect(turns.map(({ images }) => images.map(({ source }) => source))).toEqual([
      [{ kind: 'file', path: 'old.png', sha256: 'h' }],
      [{ kind: 'file', path: 'new.png', sha256: 'h' }],
    ]);
  });

  it('shows the images that a model made, from their files', () => {
    const made = { inlineData: { mimeType: 'image/png', output: 2 } };
    const first = textRecord({
      key: 'a',
      request: request('1'),
      artifacts: [picture(1, 3), picture(2, 10)],
      text: answer({ text: 'Look:' }, made),
    });
    const own = textRecord({ key: 'b', request: request('2', { continues: 'a' }) });
    const [turn] = conversationOf(own, lookupOf(first));
    expect(turn?.after[0]?.parts).toEqual([
      { part: { text: 'Look:' } },
      {
        part: made,
        image: { source: { kind: 'artifact', file: '2.png', mime: 'image/png', sha256: 'h2' }, bytes: 16 },
      },
    ]);
    const gone = lookupOf({ ...first, artifacts: [picture(1, 3)] });
    expect(() => conversationOf(own, gone)).toThrow(MissingInput);
  });

  it('cannot continue a missing reply or an unknown job', () => {
    const own = textRecord({ key: 'b', request: request('2', { continues: 'a' }) });
    expect(() => conversationOf(own, lookupOf(textRecord({ key: 'a' })))).toThrow(MissingInput);
    expect(() => conversationOf(own, lookupOf())).toThrow('Internal error');
    expect(() => conversationOf(own, lookupOf(imagineRecord({ key: 'a' })))).toThrow('Internal error');
    expect(() =>
      conversationOf(
        textRecord({ key: 'a', request: request('1', { continues: 'a' }) }),
        lookupOf(textRecord({ key: 'a', request: request('1', { continues: 'a' }), text: answer() })),
      ),
    ).toThrow('continues too many jobs');
  });
});

describe('the images of a source', () => {
  const shown = (source: ImageSource, ...records: readonly JobRecord[]) =>
    shownImages(source, { hash: 'fox.png' }, lookupOf(...records));

  it('are a file, a link or a data URI, with the largest size of each in bytes', () => {
    expect(shown({ sha256: 'hash' })).toEqual([
      { source: { kind: 'file', path: 'fox.png', sha256: 'hash' }, bytes: wholeInput },
    ]);
    expect(shown({ url: 'https://i/1' })).toEqual([
      { source: { kind: 'url', url: 'https://i/1' }, bytes: wholeInput },
    ]);
    const url = 'data:image/png;base64,AAAA';
    expect(shown({ url })).toEqual([{ source: { kind: 'url', url }, bytes: url.length }]);
    expect(() => shown({ sha256: 'other' })).toThrow('Internal error');
  });

  it('are all images of a job, in order, and nothing else that it made', () => {
    const artifacts = [picture(1, 3), picture(2, 4, 'text/plain'), picture(3, 4)];
    const images = shown({ job: 'g' }, imagineRecord({ key: 'g', artifacts }));
    expect(images.map(({ source, bytes }) => ['file' in source && source.file, bytes])).toEqual([
      ['1.png', 4],
      ['3.png', 8],
    ]);
  });

  it('are the link of a job whose file was not saved, and missing where there is none', () => {
    const kept = imagineRecord({ key: 'g', result: { buttons: [], imageUrl: 'https://i/9' } });
    expect(shown({ job: 'g' }, kept)).toEqual([
      { source: { kind: 'url', url: 'https://i/9' }, bytes: wholeInput },
    ]);
    expect(() => shown({ job: 'g' }, imagineRecord({ key: 'g' }))).toThrow(MissingInput);
    expect(() => shown({ job: 'g' })).toThrow('Internal error');
  });
});
