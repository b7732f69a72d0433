import { describe, expect, it } from 'vitest';
import type { KeepRequest, KeepResult } from '../../../src/artifacts/writer.ts';
import type { Artifact, JobRecord } from '../../../src/plan/job.ts';
import { InputBudget } from '../../../src/run/effects/input-budget.ts';
import { type AskPorts, ask } from '../../../src/run/effects/text-call.ts';
import { parseWithLongIds } from '../../../src/service/http/json.ts';
import type { TextCallRequest, TextReply } from '../../../src/service/text-service.ts';
import { textRecord } from '../../rig/jobs.ts';
import { keptNowhere, noText } from '../../rig/text-ports.ts';
import { textReply } from '../../rig/text-reply.ts';

const never = new AbortController().signal;
const mib = 1024 * 1024;
const picture = (output: number, bytes: number): Artifact => ({
  output,
  file: `${output}.png`,
  bytes,
  sha256: 'x',
  mime: 'image/png',
});

/** Ports that note what was asked and kept, and how many bytes the images of the call held. */
function rig(
  reply: TextReply,
  records: readonly JobRecord[] = [],
  keep: (request: KeepRequest) => Promise<KeepResult> = keptNowhere,
) {
  const asked: TextCallRequest[] = [];
  const kept: KeepRequest[] = [];
  const reserved: number[] = [];
  const inputBudget = new InputBudget();
  const ports: AskPorts = {
    inputBudget,
    lookup: (key) => records.find((record) => record.key === key),
    writing: {
      clock: { now: () => 0, at: () => () => undefined },
      retry: { attempts: 1, baseMs: 1, capMs: 1 },
    },
    text: {
      ...noText.text,
      ask: (request) => {
        asked.push(request);
        reserved.push(inputBudget.reserved);
        return Promise.resolve({ ok: true, value: reply });
      },
    },
    inputs: {
      load: () =>
        Promise.resolve({
          ok: true,
          value: { mimeType: 'image/webp', data: 'AAAA', width: 64, height: 32 },
        }),
    },
    artifacts: {
      keep: (request) => {
        kept.push(request);
        return keep(request);
      },
    },
  };
  return { asked, kept, reserved, carryOut: (record: JobRecord) => ask(record, ports, never) };
}

const hello = textReply({ text: 'Hello.' });
const calls = textReply({ functionCalls: [{ name: 'f', args: {} }] });
const withFunctions = { kind: 'generate', fields: { model: 'm', functions: { f: { answer: 1 } } } } as const;

describe('the images of a text call', () => {
  const first = textRecord({
    key: 'first',
    status: 'done',
    artifacts: [picture(1, 3 * mib)],
    request: {
      kind: 'generate',
      fields: { prompt: 'Draw.' },
      images: [{ url: `data:image/png;base64,${'A'.repeat(100)}` }],
    },
    text: {
      candidates: [
        {
          text: '',
          isJson: false,
          parts: [{ inlineData: { mimeType: 'image/png', output: 1 }, thoughtSignature: 's' }],
        },
      ],
    },
  });
  const own = textRecord({ request: { kind: 'generate', fields: { prompt: 'On.' }, continues: 'first' } });

  it('count in full: those of earlier turns, and those that the model made', async () => {
    const { reserved, carryOut } = rig(hello, [first]);
    await carryOut(own);
    expect(reserved).toEqual([4 * mib + 'data:image/png;base64,'.length + 100]);
  });

  it('that the model made are sent in the service’s form, without the number of their file', async () => {
    const { asked, carryOut } = rig(hello, [first]);
    await carryOut(own);
    expect(asked[0]?.earlier[0]?.after).toEqual([
      {
        role: 'model',
        parts: [{ inlineData: { mimeType: 'image/webp', data: 'AAAA' }, thoughtSignature: 's' }],
      },
    ]);
  });

  it('are read for a call that is not streamed unless its step says so', async () => {
    const { asked, carryOut } = rig(hello);
    const { call: _, ...record } = textRecord();
    await carryOut(record);
    expect(asked[0]?.stream).toBe(false);
  });
});

it('a text call is sent although its schema gives a warning', async () => {
  const { asked, carryOut } = rig(textReply({ text: '{"best":1}' }));
  const schema = { type: 'object', properties: { best: { type: 'integer' } }, required: ['bets'] };
  const fields = { model: 'm', responseSchema: schema };
  const result = await carryOut(textRecord({ request: { kind: 'generate', fields } }));
  expect([asked.length, result.kind]).toEqual([1, 'answered']);
});

describe('the files of a reply', () => {
  it('are written where a later step requested them during the call', async () => {
    const { kept, carryOut } = rig(hello, [textRecord({ keep: true })]);
    await carryOut(textRecord({ keep: false }));
    expect(kept).toHaveLength(1);
  });

  it('are written as requested although the record in the state is older and wanted none', async () => {
    const { kept, carryOut } = rig(hello, [textRecord({ keep: false })]);
    await carryOut(textRecord({ keep: true }));
    expect(kept).toHaveLength(1);
  });

  it('of a round may be lost, for the record has its responses; a full disk still stops the run', async () => {
    const failing = (kind: 'permanent' | 'stop') => () =>
      Promise.resolve({
        ok: false,
        error: { code: 'disk.io', class: kind, message: 'x' },
      } as const);
    const lost = rig(calls, [], failing('permanent'));
    expect(await lost.carryOut(textRecord({ request: withFunctions }))).toMatchObject({
      kind: 'answered',
      asked: { verdict: { kind: 'calls' } },
    });
    const full = rig(calls, [], failing('stop'));
    expect(await full.carryOut(textRecord({ request: withFunctions }))).toMatchObject({
      kind: 'unwritten',
      usage: { total: 15 },
    });
    const last = rig(hello, [], failing('permanent'));
    expect(await last.carryOut(textRecord())).toMatchObject({ kind: 'unwritten' });
  });
});

describe('the whole reply', () => {
  const kept = async (whole: unknown, candidate: Parameters<typeof textReply>[0]) => {
    const { kept: requests, carryOut } = rig(textReply(candidate, { whole: whole as never }));
    await carryOut(textRecord());
    return requests[0]?.answer ?? '';
  };
  const refused = { text: 'x', finishReason: 'SAFETY' };

  it('has the data of its images where it is a result', async () => {
    const data = 'A'.repeat(2000);
    expect(await kept({ data }, { text: 'Hello.' })).toContain(data);
  });

  it('of a refused one lacks only long data: it keeps long texts and data of up to 1024 characters', async () => {
    const [long, text] = ['A'.repeat(1025), 'B'.repeat(3000)];
    const answer = await kept({ parts: [{ data: long, text }, { data: long.slice(1) }] }, refused);
    expect(JSON.parse(answer)).toEqual({
      parts: [{ data: '(1025 characters of Base64)', text }, { data: long.slice(1) }],
    });
  });

  it('of a refused one has long integers to the last digit, and every name', async () => {
    const long = await kept(parseWithLongIds('{"id":12345678901234567891,"none":null}'), refused);
    expect(long).toBe('{"id":12345678901234567891,"none":null}');
    const whole = JSON.parse('{"a":1,"__proto__":{"b":2}}') as unknown;
    expect(await kept(whole, refused)).toBe('{"a":1,"__proto__":{"b":2}}');
  });
});
