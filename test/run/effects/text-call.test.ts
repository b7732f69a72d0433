import { describe, expect, it } from 'vitest';
import type { InputResult, InputSource } from '../../../src/artifacts/inputs.ts';
import type { KeepRequest, KeepResult } from '../../../src/artifacts/writer.ts';
import type { KeepReplies } from '../../../src/pipeline/pipeline.ts';
import type { Artifact, JobRecord } from '../../../src/plan/job.ts';
import type { TextRequest } from '../../../src/plan/job-request.ts';
import { InputBudget } from '../../../src/run/effects/input-budget.ts';
import { type AskPorts, ask } from '../../../src/run/effects/text-call.ts';
import type { CallResult } from '../../../src/run/machine/job.ts';
import type { ServiceResult } from '../../../src/service/result.ts';
import type { TextCallRequest, TextReply } from '../../../src/service/text-service.ts';
import { failure } from '../../rig/failure.ts';
import { imagineRecord, textRecord } from '../../rig/jobs.ts';
import { placeOf } from '../../rig/kept-replies.ts';
import { textReply } from '../../rig/text-reply.ts';

const never = new AbortController().signal;
const image = (output: number, name: string): Artifact => ({
  output,
  file: `images/${name}.png`,
  bytes: 30,
  sha256: name,
  mime: 'image/png',
});
const generate = (more: Partial<TextRequest>): { readonly request: TextRequest } => ({
  request: { kind: 'generate', fields: { model: 'm', prompt: 'Go on.' }, ...more },
});

/** Ports that note what they were asked. */
function rig(
  records: readonly JobRecord[] = [],
  answers: {
    readonly ask?: (request: TextCallRequest) => ServiceResult<TextReply>;
    readonly load?: (source: InputSource) => InputResult;
    readonly keep?: (request: KeepRequest) => KeepResult;
    readonly timeStands?: boolean;
    readonly keepReplies?: KeepReplies;
  } = {},
) {
  const asked: TextCallRequest[] = [];
  const loaded: InputSource[] = [];
  const kept: KeepRequest[] = [];
  const aborted: boolean[] = [];
  const inputBudget = new InputBudget();
  const reserved: number[] = [];
  const byKey = new Map(records.map((record) => [record.key, record]));
  /** Time passes at once, unless it stands still. */
  const rests: number[] = [];
  const clock = {
    now: () => 0,
    at: (at: number, call: () => void) => {
      rests.push(at);
      if (answers.timeStands !== true) queueMicrotask(call);
      return () => undefined;
    },
  };
  const ports: AskPorts = {
    writing: { clock, retry: { attempts: 4, baseMs: 1000, capMs: 60_000 } },
    inputBudget,
    ...(answers.keepReplies && { keepReplies: answers.keepReplies }),
    lookup: (key) => byKey.get(key),
    text: {
      ask: (request) => {
        asked.push(request);
        reserved.push(inputBudget.reserved);
        return Promise.resolve(answers.ask?.(request) ?? { ok: true, value: textReply({ text: 'Hello.' }) });
      },
      models: () => Promise.reject(new Error('not asked for')),
      close: () => Promise.resolve(),
    },
    inputs: {
      load: (source) => {
        loaded.push(source);
        const name = source.kind === 'url' ? source.url : source.kind === 'file' ? source.path : source.file;
        return Promise.resolve(
          answers.load?.(source) ?? { ok: true, value: { mimeType: 'image/png', data: `data of ${name}` } },
        );
      },
    },
    artifacts: {
      keep: (request, signal) => {
        kept.push(request);
        aborted.push(signal.aborted);
        return Promise.resolve(
          answers.keep?.(request) ?? {
            ok: true,
            value: {
              artifacts: request.pieces.map((_, at) => image(at + 1, `kept${at}`)),
              reply: placeOf(0),
            },
          },
        );
      },
    },
  };
  const carryOut = (record: JobRecord, signal = never): Promise<CallResult> => ask(record, ports, signal);
  return { asked, loaded, kept, aborted, reserved, rests, inputBudget, carryOut };
}

const data = (name: string) => ({ mimeType: 'image/png', data: `data of ${name}` });

describe('a text call', () => {
  it('is made from its record, and its reply is written', async () => {
    const { asked, kept, carryOut } = rig();
    const result = await carryOut(
      textRecord({ call: { stream: true, accept: [] }, ...generate({ extra: { seed: 1 } }) }),
    );
    expect(asked).toEqual([
      {
        kind: 'generate',
        accept: [],
        fields: { model: 'm', prompt: 'Go on.' },
        images: [],
        earlier: [],
        turns: [],
        extra: { seed: 1 },
        stream: true,
      },
    ]);
    expect(kept).toEqual([{ key: 'cc33', pieces: [], answer: '{}', isAgain: false }]);
    expect(result).toMatchObject({
      kind: 'answered',
      asked: {
        verdict: { kind: 'done' },
        text: { candidates: [{ text: 'Hello.' }], reply: placeOf(0) },
        artifacts: [],
      },
    });
  });

  it('is paid once its reply has come: the reply is written although the run is ended at once', async () => {
    const end = new AbortController();
    const { aborted, carryOut } = rig([], {
      ask: () => {
        end.abort();
        return { ok: true, value: textReply({ text: 'Hello.' }) };
      },
    });
    const result = await carryOut(textRecord({}), end.signal);
    expect([result.kind, aborted]).toEqual(['answered', [false]]);
  });

  it('shows files, addresses and all images of jobs, in order, and holds them only while it is in flight', async () => {
    const grid = imagineRecord({ status: 'done', artifacts: [image(1, 'grid')] });
    const { asked, loaded, reserved, inputBudget, carryOut } = rig([grid]);
    await carryOut(
      textRecord({
        files: { ab: 'masks/a.png' },
        ...generate({ images: [{ job: 'aa11' }, { sha256: 'ab' }, { url: 'https://x/y.png' }] }),
      }),
    );
    expect(loaded).toEqual([
      { kind: 'artifact', file: 'images/grid.png', mime: 'image/png', sha256: grid.artifacts[0]?.sha256 },
      { kind: 'file', path: 'masks/a.png', sha256: 'ab' },
      { kind: 'url', url: 'https://x/y.png' },
    ]);
    expect(asked[0]?.images).toEqual([data('images/grid.png'), data('masks/a.png'), data('https://x/y.png')]);
    expect(reserved[0]).toBeGreaterThan(2 * 20 * 1024 * 1024);
    expect(inputBudget.reserved).toBe(0);
  });

  it('continues conversations from their beginning, with the images that were shown and made', async () => {
    const first = textRecord({
      key: 'first',
      status: 'done',
      artifacts: [image(2, 'drawn')],
      text: {
        candidates: [
          {
            text: 'Here',
            isJson: false,
            parts: [
              { text: 'Here' },
              { inlineData: { mimeType: 'image/png', output: 2 }, thoughtSignature: 's' },
            ],
          },
          { text: 'Other', isJson: false, parts: [] },
        ],
      },
      turns: [
        { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
        { role: 'user', parts: [] },
      ],
      ...generate({ fields: { model: 'm', prompt: 'Draw.' }, images: [{ url: 'https://x/1' }] }),
    });
    const second = textRecord({
      key: 'second',
      status: 'done',
      text: { candidates: [{ text: 'Yes', isJson: false, parts: [{ text: 'Yes' }] }] },
      ...generate({ fields: { prompt: 'Sure?' }, continues: 'first' }),
    });
    const { asked, carryOut } = rig([first, second]);
    await carryOut(
      textRecord({
        ...generate({ continues: 'second' }),
        turns: [{ role: 'model', parts: [{ text: 'own' }] }],
      }),
    );
    expect(asked[0]).toMatchObject({
      earlier: [
        {
          fields: { prompt: 'Draw.' },
          images: [data('https://x/1')],
          after: [
            ...(first.turns ?? []),
            {
              role: 'model',
              parts: [{ text: 'Here' }, { inlineData: data('images/drawn.png'), thoughtSignature: 's' }],
            },
          ],
        },
        { fields: { prompt: 'Sure?' }, images: [], after: [{ role: 'model', parts: [{ text: 'Yes' }] }] },
      ],
      images: [],
      turns: [{ role: 'model', parts: [{ text: 'own' }] }],
    });
  });

  it('is not made when an image cannot be read, or was never saved', async () => {
    const error = { code: 'input.changed', class: 'permanent', message: 'x' } as const;
    const { asked, inputBudget, carryOut } = rig([imagineRecord({ status: 'done' })], {
      load: () => ({ ok: false, error }),
    });
    expect(await carryOut(textRecord(generate({ images: [{ url: 'https://x/1' }] })))).toEqual({
      kind: 'unread',
      error,
    });
    expect(await carryOut(textRecord(generate({ images: [{ job: 'aa11' }] })))).toMatchObject({
      kind: 'unread',
      error: { code: 'input.missing', class: 'permanent' },
    });
    expect([asked.length, inputBudget.reserved]).toEqual([0, 0]);
  });

  it('is not made when it continues a reply whose image was never saved, and the error says how to get it', async () => {
    const drawn = textRecord({
      ...generate({ fields: { prompt: 'Draw.' } }),
      key: 'drawn',
      status: 'done',
      keep: false,
      text: {
        candidates: [
          { text: '', isJson: false, parts: [{ inlineData: { mimeType: 'image/png', output: 1 } }] },
        ],
      },
    });
    const { asked, carryOut } = rig([drawn]);
    expect(await carryOut(textRecord(generate({ continues: 'drawn' })))).toMatchObject({
      kind: 'unread',
      error: { code: 'input.missing', message: expect.stringMatching(/--redo drawn to make it again\.$/) },
    });
    expect(asked).toEqual([]);
  });

  it('is not made for a schema that no reply can satisfy', async () => {
    const { asked, carryOut } = rig();
    const fields = { model: 'm', prompt: 'x', responseSchema: { type: 'whole number' } };
    expect(await carryOut(textRecord(generate({ fields })))).toMatchObject({
      kind: 'unread',
      error: { code: 'schema.answer', class: 'permanent' },
    });
    expect(asked).toEqual([]);
  });

  it('writes nothing where the service refuses it', async () => {
    const error = failure('service.unavailable', 'retry');
    const { kept, carryOut } = rig([], { ask: () => ({ ok: false, error }) });
    expect([await carryOut(textRecord()), kept]).toEqual([{ kind: 'refused', error }, []]);
  });

  it('writes the whole reply of each round of function calls, and nothing where no reply is wanted', async () => {
    const calls = textReply({ functionCalls: [{ name: 'f', args: {} }] });
    const { kept, carryOut } = rig([], { ask: () => ({ ok: true, value: calls }) });
    const functions = { f: { answer: 1 } };
    expect(await carryOut(textRecord(generate({ fields: { model: 'm', functions } })))).toMatchObject({
      asked: { verdict: { kind: 'calls' }, artifacts: [] },
    });
    expect(kept).toEqual([{ key: 'cc33', pieces: [], answer: '{}', isAgain: false }]);
    await carryOut(textRecord({ keep: false }));
    expect(kept).toHaveLength(1);
  });

  it('keeps the files of the previous reply until there is a usable one', async () => {
    let text = '';
    const { kept, carryOut } = rig([], { ask: () => ({ ok: true, value: textReply({ text }) }) });
    const redone = textRecord({ former: { resubmits: 0 }, attempts: 2, artifacts: [image(1, 'a')] });
    expect(await carryOut(redone)).toMatchObject({ asked: { verdict: { kind: 'invalid' } } });
    text = 'Hello.';
    expect(await carryOut(redone)).toMatchObject({ asked: { verdict: { kind: 'done' } } });
    // Both replies are paid, and kept; only the usable one has the images of the former one removed.
    expect(kept.map(({ pieces, isAgain }) => [pieces, isAgain])).toEqual([
      [[], false],
      [[], true],
    ]);
  });

  it.each<[KeepReplies, readonly string[]]>([
    ['all', ['usable', 'calls', 'invalid', 'failed']],
    ['failed', ['invalid', 'failed']],
    ['none', []],
  ])('writes the requested whole replies: %s', async (keepReplies, wanted) => {
    const replies: readonly (readonly [string, TextReply])[] = [
      ['usable', textReply({ text: 'Hello.' })],
      ['calls', textReply({ functionCalls: [{ name: 'f', args: {} }] })],
      ['invalid', textReply({ text: '' })],
      ['failed', textReply({ text: 'x', finishReason: 'SAFETY' })],
    ];
    const keeps: string[] = [];
    for (const [name, value] of replies) {
      const { kept, carryOut } = rig([], { ask: () => ({ ok: true, value }), keepReplies });
      await carryOut(textRecord(generate({ fields: { model: 'm', functions: { f: { answer: 1 } } } })));
      if (kept.length > 0) keeps.push(name);
    }
    expect(keeps).toEqual(wanted);
  });

  it('writes only the reply itself, without image data, where the reply cannot be used', async () => {
    const whole = {
      candidates: [
        {
          content: {
            parts: [{ inlineData: { mimeType: 'image/png', data: 'A'.repeat(2000) } }, { text: 'data' }],
          },
        },
      ],
    };
    const { kept, carryOut } = rig([], {
      ask: () => ({ ok: true, value: textReply({ text: 'x', finishReason: 'SAFETY' }, { whole }) }),
    });
    expect(await carryOut(textRecord())).toMatchObject({
      asked: { verdict: { kind: 'failed' }, artifacts: [] },
    });
    expect(kept[0]?.pieces).toEqual([]);
    expect(kept[0]?.answer).toContain('(2000 characters of Base64)');
    expect(kept[0]?.answer).not.toContain('AAAA');
  });

  it('reports its tokens where its reply cannot be written', async () => {
    const error = { code: 'disk.full', class: 'stop', message: 'x' } as const;
    const { carryOut } = rig([], { keep: () => ({ ok: false, error }) });
    expect(await carryOut(textRecord())).toMatchObject({
      kind: 'unwritten',
      error,
      text: { candidates: [{ text: 'Hello.' }] },
      usage: { prompt: 10, candidates: 5, total: 15 },
    });
  });

  const failing = { code: 'disk.io', class: 'retry', message: 'It was not written.' } as const;

  it('repeats only the write, not the call, where only the write failed', async () => {
    let left = 2;
    const { asked, kept, rests, carryOut } = rig([], {
      keep: () =>
        left-- > 0 ? { ok: false, error: failing } : { ok: true, value: { artifacts: [image(1, 'k')] } },
    });
    expect(await carryOut(textRecord())).toMatchObject({ kind: 'answered', asked: { artifacts: [{}] } });
    expect([asked.length, kept.length, rests]).toEqual([1, 3, [1000, 2000]]);
  });

  it('writes retry.attempts times at most, and once more when the run is left', async () => {
    const never = rig([], { keep: () => ({ ok: false, error: failing }) });
    expect(await never.carryOut(textRecord())).toMatchObject({
      kind: 'unwritten',
      error: { message: 'It was not written. (after 4 tries)' },
    });
    expect([never.asked.length, never.kept.length]).toEqual([1, 4]);

    const leaving = new AbortController();
    const left = rig([], {
      timeStands: true,
      keep: () => {
        queueMicrotask(() => leaving.abort());
        return { ok: false, error: failing };
      },
    });
    expect(await left.carryOut(textRecord(), leaving.signal)).toMatchObject({ kind: 'unwritten' });
    expect(left.kept).toHaveLength(2);
  });

  it('stops waiting for memory when the run is left', async () => {
    const { inputBudget, asked, carryOut } = rig();
    await inputBudget.take(1e9, never);
    const leaving = new AbortController();
    const left = carryOut(textRecord(generate({ images: [{ url: 'https://x/1' }] })), leaving.signal);
    leaving.abort(new Error('left'));
    expect(await left).toMatchObject({ kind: 'unread', error: { code: 'download.aborted' } });
    expect(asked).toEqual([]);
  });
});
