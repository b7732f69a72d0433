import { describe, expect, it } from 'vitest';
import {
  type InputResult,
  type InputSource,
  largestMask,
  type MaskRequest,
} from '../../../src/artifacts/inputs.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { EntryRequest, JobRequest } from '../../../src/plan/job-request.ts';
import { InputBudget } from '../../../src/run/effects/input-budget.ts';
import { checkMask, confirmModal, type SubmitPorts, submit } from '../../../src/run/effects/submit.ts';
import type { ImageService } from '../../../src/service/image-service.ts';
import { clickRecord, imagineRecord, job } from '../../rig/jobs.ts';

const never = new AbortController().signal;
const accepted = { ok: true, value: { kind: 'accepted', taskId: 'T2', code: 1 } } as const;
const notAsked = () => Promise.reject(new Error('not asked for'));
const whole = { width: 64, height: 32 };

/** Ports that note what they were asked. */
function rig(
  records: readonly JobRecord[] = [],
  { load, mask, tags = true }: { load?: InputResult; mask?: InputResult; tags?: boolean } = {},
) {
  const sent: (readonly [string, Readonly<Record<string, unknown>>])[] = [];
  const loaded: InputSource[] = [];
  const masks: MaskRequest[] = [];
  const reserved: number[] = [];
  const inputBudget = new InputBudget();
  const note = (name: string) => (request: object) => {
    sent.push([name, { ...request }]);
    reserved.push(inputBudget.reserved);
    return Promise.resolve(accepted);
  };
  const service: ImageService = {
    action: note('action'),
    modal: note('modal'),
    begin: note('begin'),
    fetchTask: notAsked,
    fetchTasks: notAsked,
    close: () => Promise.resolve(),
  };
  const ports: SubmitPorts = {
    service,
    inputBudget,
    speed: 'fast',
    tags,
    lookup: (key) => records.find((record) => record.key === key),
    inputs: {
      load: (source) => {
        loaded.push(source);
        return Promise.resolve(
          load ?? { ok: true, value: { mimeType: 'image/png', data: 'AAAA', ...whole } },
        );
      },
      mask: (request) => {
        masks.push(request);
        return Promise.resolve(
          mask ?? { ok: true, value: { mimeType: 'image/png', data: 'MMMM', ...request.size } },
        );
      },
    },
  };
  return { ports, sent, loaded, masks, reserved, inputBudget };
}

const parent = imagineRecord({
  status: 'done',
  artifacts: [{ output: 1, file: 'images/aa.png', bytes: 30, sha256: 'x', mime: 'image/png', ...whole }],
});
const asks = (request: JobRequest, more: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({ key: 'k1', kind: request.kind, request, status: 'submitting', ...more });
const entry = (
  request: Omit<EntryRequest, 'fields'> & Partial<EntryRequest>,
  more: Partial<JobRecord> = {},
) => asks({ fields: {}, ...request }, more);
const png = { mimeType: 'image/png', data: 'AAAA' };

describe('a submission', () => {
  it('sends the fields of an imagine, with its tag', async () => {
    const { ports, sent } = rig();
    await submit(job(imagineRecord()), ports, never);
    expect(sent).toEqual([
      ['begin', { kind: 'imagine', fields: { prompt: 'a fox' }, images: [], speed: 'fast', tag: 'aa11' }],
    ]);
    const bare = rig([], { tags: false });
    await submit(job(imagineRecord()), bare.ports, never);
    expect(bare.sent[0]?.[1]).toEqual({
      kind: 'imagine',
      fields: { prompt: 'a fox' },
      images: [],
      speed: 'fast',
    });
  });

  it('shows images from files, addresses and jobs in order, held only while it is in flight', async () => {
    const { ports, sent, loaded, reserved, inputBudget } = rig([parent]);
    const record = asks(
      {
        kind: 'imagine',
        fields: { prompt: 'so' },
        images: [{ sha256: 'f1' }, { url: 'https://i/1.png' }, { job: 'aa11' }],
      },
      { files: { f1: 'in/a.png' } },
    );
    expect(await submit(job(record), ports, never)).toEqual({ result: accepted });
    expect(loaded).toEqual([
      { kind: 'file', path: 'in/a.png', sha256: 'f1' },
      { kind: 'url', url: 'https://i/1.png' },
      { kind: 'artifact', file: 'images/aa.png', mime: 'image/png', sha256: expect.any(String) },
    ]);
    expect(sent[0]?.[1]['images']).toEqual([png, png, png]);
    expect([reserved[0] ?? 0, inputBudget.reserved]).toEqual([expect.any(Number), 0]);
    expect(reserved[0]).toBeGreaterThan(0);
  });

  it.each(['blend', 'describe', 'video'] as const)('of a %s begins from its images', async (kind) => {
    const { ports, sent } = rig([parent]);
    const record = entry({ kind, fields: { motion: 'low' }, images: [{ job: 'aa11' }], extra: { x: 1 } });
    await submit(job(record), ports, never);
    expect(sent).toEqual([
      [
        'begin',
        { kind, fields: { motion: 'low' }, images: [png], extra: { x: 1 }, speed: 'fast', tag: 'k1' },
      ],
    ]);
  });

  it('of an extended video names the task of the earlier video', async () => {
    const { ports, sent } = rig();
    await submit(
      job(entry({ kind: 'video', fields: { extend: 2 }, images: [] }, { parent: 'aa11' }), {
        parentTaskId: 'T1',
      }),
      ports,
      never,
    );
    expect(sent[0]?.[1]).toMatchObject({ kind: 'video', taskId: 'T1', images: [] });
  });

  it('of an extended video without an earlier task is never sent', async () => {
    const { ports, sent } = rig();
    const record = entry({ kind: 'video', fields: { extend: 1 }, images: [] });
    await expect(submit(job(record), ports, never)).rejects.toThrow(/^Internal error: video k1/);
    expect(sent).toEqual([]);
  });

  it('of an edit has a mask in the size of the image that was read, transparent in the edited area', async () => {
    const { ports, sent, masks } = rig([parent]);
    const shapes = [{ rectangle: [0, 0, 1, 1] }] as const;
    await submit(
      job(entry({ kind: 'edit', images: [{ job: 'aa11' }], mask: { shapes, invert: true } })),
      ports,
      never,
    );
    expect(masks).toEqual([
      { source: { kind: 'shapes', shapes }, invert: true, size: whole, form: 'transparent' },
    ]);
    expect(sent[0]?.[1]['mask']).toEqual({ mimeType: 'image/png', data: 'MMMM' });
  });

  it('is not made where an image cannot be read, and releases its bytes', async () => {
    const error = { code: 'input.changed', class: 'permanent', message: 'It is another file.' } as const;
    const { ports, sent, inputBudget } = rig([parent], { load: { ok: false, error } });
    const record = entry({ kind: 'describe', images: [{ job: 'aa11' }] });
    expect(await submit(job(record), ports, never)).toEqual({ unread: error });
    expect([sent, inputBudget.reserved]).toEqual([[], 0]);
  });

  it('of a click enables remix only for Vary (Region) or where the pipeline sets it', async () => {
    const { ports, sent } = rig();
    const press = (customId: string, fields = {}) =>
      submit(
        job(
          clickRecord({
            pressed: { customId, label: '', emoji: '' },
            request: { kind: 'click', press: [], fields },
          }),
        ),
        ports,
        never,
      );
    await press('MJ::Inpaint::1::x::SOLO');
    await press('IMG::JOB::variation::1::x', { remix: true });
    await press('IMG::JOB::upsample::1::x');
    expect(sent.map(([, request]) => request['enableRemix'])).toEqual([true, true, undefined]);
  });
});

describe('the confirm of a modal', () => {
  const region = (more: Partial<JobRecord> = {}): JobRecord =>
    clickRecord({
      status: 'submitting',
      modal: { taskId: 'M1', sent: 1 },
      files: { m1: 'mask.png' },
      request: { kind: 'click', press: [], fields: { prompt: 'a hat' }, mask: { sha256: 'm1' } },
      ...more,
    });

  it.each([
    ['IMG::Inpaint::1::x::SOLO', true],
    ['MJ::Inpaint', true],
    ['IMG::Retexture::1::x', true],
    ['IMG::CustomZoom::x', false],
    ['IMG::JOB::high_variation::1::x::SOLO', false],
    ['MJ::JOB::variation::2::x', false],
    ['IMG::JOB::video::1::x::manual', false],
  ])('has a mask where the button may take one: %s %s', async (customId, takes) => {
    const { ports, sent } = rig([parent]);
    await confirmModal(region({ pressed: { customId, label: '', emoji: '' } }), ports, never);
    expect('mask' in (sent[0]?.[1] ?? {})).toBe(takes);
  });

  it('is the prompt and a mask in the size of the parent’s image, for the waiting task', async () => {
    const { ports, sent, masks } = rig([parent]);
    expect(await confirmModal(region(), ports, never)).toEqual({ result: accepted });
    expect(masks).toEqual([
      { source: { kind: 'file', path: 'mask.png', sha256: 'm1' }, invert: false, size: whole, form: 'white' },
    ]);
    expect(sent).toEqual([
      [
        'modal',
        {
          taskId: 'M1',
          prompt: 'a hat',
          mask: { mimeType: 'image/png', data: 'MMMM' },
          speed: 'fast',
          tag: 'bb22',
        },
      ],
    ]);
  });

  it('has the prompt that a describe suggested, where its button is pressed without another prompt', async () => {
    const described = { ...parent, result: { buttons: [], prompts: ['a fox', 'a hare'] } };
    const { ports, sent } = rig([described]);
    const pressed = { customId: 'MJ::Job::PicReader::2', label: '', emoji: '2️⃣' };
    const bare = { pressed, request: { kind: 'click', press: [], fields: {} } } as const;
    await confirmModal(region(bare), ports, never);
    const own = { ...bare, request: { ...bare.request, fields: { prompt: 'an owl' } } };
    await confirmModal(region(own), ports, never);
    expect(sent.map(([, { prompt }]) => prompt)).toEqual(['a hare', 'an owl']);
  });

  it('has that prompt even where a remix below such a button has none of its own', async () => {
    const described = {
      ...parent,
      kind: 'describe',
      result: { buttons: [], prompts: ['a fox', 'a hare'] },
    } as const;
    const drawn = clickRecord({
      key: 'cc33',
      pressed: { customId: 'MJ::Job::PicReader::2', label: '', emoji: '2️⃣' },
      request: { kind: 'click', press: [], fields: {} },
    });
    const remix = region({
      key: 'dd44',
      parent: 'cc33',
      request: { kind: 'click', press: [], fields: { remix: true } },
    });
    const { ports, sent } = rig([described, drawn]);
    await confirmModal(remix, ports, never);
    expect(sent[0]?.[1]['prompt']).toBe('a hare');
  });

  it('has the mask made by the check before the click; a click without a mask needs no check', async () => {
    const { ports, masks, sent, inputBudget } = rig([parent]);
    expect(await checkMask(region({ status: 'pending' }), ports, never)).toBeUndefined();
    await confirmModal(region(), ports, never);
    expect([masks.length, masks[0]]).toEqual([2, masks[1]]);
    expect([sent.map(([name]) => name), inputBudget.reserved]).toEqual([['modal'], 0]);
    const bare = rig([]);
    expect(await checkMask(clickRecord(), bare.ports, never)).toBeUndefined();
    expect(bare.masks).toEqual([]);
    const left = AbortSignal.abort();
    expect(await checkMask(region(), ports, left)).toMatchObject({ code: 'download.aborted' });
  });

  it('is not sent, nor its click, where the mask does not fit or the image’s size is unknown', async () => {
    const error = { code: 'mask.size', class: 'permanent', message: '64 × 64, not 64 × 32' } as const;
    const wrong = rig([parent], { mask: { ok: false, error } });
    expect(await confirmModal(region(), wrong.ports, never)).toEqual({ unread: error });
    expect(await checkMask(region(), wrong.ports, never)).toEqual(error);
    const unkept = rig([{ ...parent, artifacts: [] }]);
    expect(await checkMask(region(), unkept.ports, never)).toMatchObject({ code: 'input.missing' });
    expect(await confirmModal(region(), unkept.ports, never)).toMatchObject({
      unread: { code: 'input.missing', class: 'permanent' },
    });
    expect([wrong.sent, unkept.sent]).toEqual([[], []]);
  });
});

describe('the inputs of a submission', () => {
  const sized = (output: number, size: object) => ({
    output,
    file: `${output}.png`,
    bytes: 30,
    sha256: 'x',
    mime: 'image/png',
    ...size,
  });
  const shapes = [{ rectangle: [0, 0, 1, 1] }] as const;
  const region = clickRecord({
    status: 'submitting',
    modal: { taskId: 'M1', sent: 1 },
    request: { kind: 'click', press: [], fields: {}, mask: { shapes } },
  });

  it('count the size of its mask and that of its images', async () => {
    const bare = rig([parent]);
    await submit(job(entry({ kind: 'edit', images: [{ job: 'aa11' }] })), bare.ports, never);
    const masked = rig([parent]);
    await submit(
      job(entry({ kind: 'edit', images: [{ job: 'aa11' }], mask: { shapes } })),
      masked.ports,
      never,
    );
    const ofMask = 4 * Math.ceil(largestMask / 3);
    expect([bare.reserved, masked.reserved]).toEqual([[40], [40 + ofMask]]);
    const modal = rig([parent]);
    await confirmModal(region, modal.ports, never);
    expect([modal.reserved, modal.inputBudget.reserved]).toEqual([[ofMask], 0]);
  });

  it('fit the mask of an edit to the first of its images', async () => {
    const sizes = [
      { width: 100, height: 50 },
      { width: 64, height: 32 },
    ];
    const { ports, masks } = rig();
    const load = () => {
      const size = sizes.shift() ?? whole;
      return Promise.resolve({ ok: true, value: { mimeType: 'image/png', data: 'AAAA', ...size } } as const);
    };
    const images = [{ url: 'https://i/1.png' }, { url: 'https://i/2.png' }];
    const record = entry({ kind: 'edit', images, mask: { shapes } });
    await submit(job(record), { ...ports, inputs: { ...ports.inputs, load } }, never);
    expect(masks).toMatchObject([{ size: { width: 100, height: 50 } }]);
  });

  it('fit the mask of a click to the first image of the parent with a known size', async () => {
    const { ports, masks } = rig([
      { ...parent, artifacts: [sized(1, {}), sized(2, { width: 80, height: 40 }), sized(3, whole)] },
    ]);
    await confirmModal(region, ports, never);
    expect(masks).toMatchObject([{ size: { width: 80, height: 40 } }]);
  });

  it('name a task only for a video that extends one', async () => {
    const { ports, sent } = rig();
    const record = entry({ kind: 'video', images: [{ url: 'https://i/1.png' }] }, { parent: 'aa11' });
    await submit(job(record, { parentTaskId: 'T1' }), ports, never);
    expect(sent[0]?.[1]).toEqual({ kind: 'video', fields: {}, images: [png], speed: 'fast', tag: 'k1' });
  });

  it('of a confirm without a prompt have no prompt, and the step’s extra fields', async () => {
    const { ports, sent } = rig([{ ...parent, request: { kind: 'imagine', fields: {} } }]);
    const request = { ...region.request, extra: { notifyHook: 'h' } } as JobRequest;
    await confirmModal({ ...region, request }, ports, never);
    expect(sent[0]?.[1]).toEqual({
      taskId: 'M1',
      mask: { mimeType: 'image/png', data: 'MMMM' },
      extra: { notifyHook: 'h' },
      speed: 'fast',
      tag: 'bb22',
    });
  });

  it('of a confirm have the prompt of the step, even an empty one', async () => {
    const { ports, sent } = rig([parent]);
    const request = { ...region.request, fields: { prompt: '' } } as JobRequest;
    await confirmModal({ ...region, request }, ports, never);
    expect(sent[0]?.[1]['prompt']).toBe('');
  });
});
