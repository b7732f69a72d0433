import { ids, repeatedKey, tags } from '../check/answered.ts';
import { type Draft, draft, type Piece, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { anyJson, type Json, largeJson, mutateJson, oddValue } from './json.ts';
import { mutate, odd } from './oddity.ts';

const link = (random: Random): Json =>
  random.pick<Json>([
    'https://cdn.example/1.png',
    'https://cdn.example/a.mp4?ex=1',
    { url: 'https://cdn.example/b.webp', thumbnail: null },
    { url: 7 },
    '',
    ' ',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://127.0.0.1/x',
    `https://a.example/?key=${repeatedKey}`,
    '//x',
    odd(random),
  ]);

const button = (random: Random): Json => ({
  customId: random.pick<Json>([
    'IMG::JOB::upsample::1::x',
    'MJ::Inpaint::1::x::SOLO',
    '::',
    '',
    7,
    repeatedKey,
    odd(random),
    'x'.repeat(random.size(3000)),
  ]),
  label: random.pick<Json>(['U1', '', null, 'Vary (Region)', odd(random), odd(random).repeat(300)]),
  emoji: random.pick<Json>(['', '🔄', null, 7, odd(random)]),
  type: 2,
  style: random.pick<Json>([1, 2, null, 'x']),
});

const finalPrompt = (random: Random): string =>
  random
    .some(0, 12, () =>
      random.pick([
        '1️⃣ a fox --ar 5:4\n\n',
        '2️⃣ an owl\n\n',
        '3️⃣ ',
        '4️⃣\n',
        '🔟 x',
        '1. a\n',
        '2) b\n',
        '## Shortened prompts\n',
        '1⃣ x',
        '\n\n',
        '\r\n',
        odd(random),
        'words '.repeat(random.size(2000)),
      ]),
    )
    .join('');

/** A task record as gateways write it, odd in some places. */
export function record(random: Random): { readonly [name: string]: Json } {
  const links = (): Json => random.pick<Json>([null, '', random.some(0, 6, () => link(random)), {}, 'x']);
  return {
    id: random.pick<Json>([ids[0], ids[1], Number(ids[0]), 'other', null, 1e21, odd(random)]),
    action: random.pick<Json>(['IMAGINE', 'DESCRIBE', 'VIDEO', 'describe ', '', null, 7]),
    status: random.pick<Json>([
      'SUCCESS',
      'SUCCESS',
      'SUCCESS',
      'MODAL',
      'FAILURE',
      'CANCEL',
      '',
      null,
      'NEW',
      odd(random),
    ]),
    progress: random.pick<Json>(['100%', '15%', '', null, 'Waiting to start', '999%', '-1%', 7, odd(random)]),
    prompt: random.pick<Json>(['a fox', null, odd(random), finalPrompt(random)]),
    state: random.pick<Json>([...tags, '', null, repeatedKey, odd(random), 'x'.repeat(300)]),
    imageUrl: random.pick([link(random), null]),
    imageUrls: links(),
    videoUrl: random.pick([link(random), null]),
    videoUrls: links(),
    failReason: random.pick<Json>([
      null,
      '[Internal error] Something went wrong',
      '可能包含敏感词',
      `no ${repeatedKey}`,
      odd(random).repeat(random.size(2000)),
    ]),
    buttons: random.pick<Json>([null, random.some(0, 9, () => button(random)), {}, 'x']),
    properties: random.pick<Json>([
      null,
      { finalPrompt: finalPrompt(random), remix: true },
      [],
      oddValue(random),
    ]),
  };
}

/** Codes that nobody has described, or that are none. */
const strangeCodes: readonly Json[] = [
  0,
  2,
  6,
  20,
  25,
  31,
  99,
  200,
  429,
  2 ** 53,
  '7',
  '1',
  '21',
  null,
  -1,
  1.5,
];

export const submitted = (random: Random): Json => ({
  code: random.happens(0.25)
    ? random.pick<Json>([...strangeCodes, odd(random)])
    : random.pick<Json>([1, 22, 21, 23, 9, 3, 4, 5, 24, 30]),
  description: random.pick<Json>([
    'Submit success',
    '队列已满',
    '当前账号不支持 remix',
    null,
    odd(random).repeat(random.size(900)),
  ]),
  result: random.pick<Json>([
    ids[0],
    Number(ids[1]),
    '1,2',
    null,
    [ids[0]],
    '..',
    '',
    repeatedKey,
    odd(random),
  ]),
  properties: random.pick<Json>([
    null,
    {},
    { finalPrompt: 'x', remix: true },
    { numberOfQueues: 3 },
    { bannedWord: odd(random) },
    { status: 'SUCCESS', imageUrl: 'x' },
    [],
  ]),
});

export const refusals: readonly Json[] = [
  { error: { code: '', message: 'no (request id: 1)', type: 'svc_api_error' } },
  { error: { code: 'invalid_request', message: repeatedKey, type: 'x' } },
  { description: 'do_request_failed ', type: 'upstream_error', code: 5 },
  { description: 'task_no_found ', type: 'upstream_error', code: 4 },
  { error: 'midjourney_task_not_found' },
];

/** Rows of one task that have come unequally far, among others: a click and its modal may be kept under one id. */
function twins(random: Random): readonly Json[] {
  const id = random.pick<Json>([ids[0], Number(ids[0]), ids[2]]);
  const rows = random.some(2, 4, () => ({
    ...record(random),
    id,
    state: random.pick(tags),
    status: random.pick(['MODAL', 'SUCCESS', 'FAILURE', 'IN_PROGRESS', '']),
    submitTime: random.pick<Json>([0, null, 1_700_000_000_000, 1_600_000_000_000, '1700000000000', 1e21]),
  }));
  return [...rows, ...random.some(0, 2, () => record(random))];
}

/** A list as long as a service may grow it; each row by itself, for rows of one id are one task. */
function manyRows(random: Random): readonly Piece[] {
  const rows = random.size(random.happens(0.1) ? 20_000 : 1000);
  const tag = random.pick([...tags, '', 'another']);
  const id = random.pick(['', '\u{1F98A}', 'x'.repeat(240)]);
  const more = random.pick([
    '',
    ',"buttons":[{"customId":"a","label":"U1"}]',
    `,"prompt":"${'x'.repeat(200)}"`,
  ]);
  const text = Array.from(
    { length: rows },
    (_, at) => `{"id":"${id}${at}","state":"${tag}","status":"SUCCESS"${more}},`,
  ).join('');
  return [piece('['), piece(text), piece('{}]')];
}

/** What stands where all tasks are listed: a page of them, or a row that is none. */
const asPage = (rows: Json, random: Random): Json =>
  random.pick<Json>([
    { list: rows, pagination: { current: 1, pageSize: 100, total: 3000 } },
    { data: rows, total: 2 },
    { code: 1, description: 'ok', result: rows },
    [rows],
    [rows, null, 7, 'x', true],
    { 0: rows, length: 1 },
  ]);

/** Bytes where the image workflow answers. */
export function hostileTask(random: Random): Draft {
  const route = random.pick(['task', 'task', 'list', 'all', 'submit', 'submit', 'prompts']);
  const status = random.happens(0.7)
    ? ''
    : ` ${random.pick([204, 301, 400, 400, 403, 404, 429, 500, 502, 503, 524])}`;
  const form = `${route}${status}`;
  if (route === 'prompts')
    return random.happens(0.1)
      ? draft(form, piece(random.pick(['1️⃣ a\n', '1. ', '\n\n', '️', '⃣', '1️⃣', 'a ']), random.size(200_000)))
      : draft(form, mutate(finalPrompt(random), random));
  const one = (): Json => {
    const json = route === 'submit' ? submitted(random) : record(random);
    return mutateJson(
      random.happens(0.1) ? random.pick(refusals) : json,
      random,
      random.pick([0, 0.02, 0.08]),
    );
  };
  const rows = (): Json => (random.happens(0.4) ? twins(random) : random.some(0, 5, one));
  const value = (): Json => {
    if (route === 'list') return rows();
    if (route === 'all') return random.happens(0.2) ? asPage(rows(), random) : rows();
    return one();
  };
  // Beyond 2^53 JSON.stringify cannot write an id.
  const text = (): string =>
    JSON.stringify(value()).replace(`"${ids[1]}"`, random.happens(0.5) ? ids[1] : `"${ids[1]}"`);
  const chosen = random.next();
  if (chosen < 0.65) return draft(form, text());
  if (chosen < 0.8) return draft(form, mutate(text(), random));
  if (route === 'all' && chosen < 0.9) return { form, pieces: manyRows(random) };
  if (chosen < 0.9) {
    const [open, unit, close] = random.pick([
      ['{"id":"1","status":"SUCCESS","buttons":[', '{"customId":"a","label":"U1"},', '{}]}'],
      ['{"id":"1","status":"SUCCESS","videoUrls":[', '{"url":"https://a.example/1.mp4"},', '""]}'],
      ['{"id":"1","status":"SUCCESS","action":"DESCRIBE","properties":{"finalPrompt":"', '1️⃣ a\\n', '"}}'],
      ['{"id":"1","status":"FAILURE","failReason":"', 'x\\u001b', '"}'],
      ['[', '{"id":"x","status":"MODAL"},', '{}]'],
      ['[', '{"id":"x","status":"MODAL"},', '{"id":"x","status":"SUCCESS"}]'],
      ['{"code":1,"result":"', '1', '"}'],
    ] as const);
    return draft(form, open, piece(unit, random.size(random.happens(0.05) ? 60_000 : 3000)), close);
  }
  if (chosen < 0.95) return { form, pieces: largeJson(random) };
  return draft(
    form,
    random.pick(['', ' ', 'null', '<html><title>x</title>', '[]', '""', JSON.stringify(anyJson(random))]),
  );
}
