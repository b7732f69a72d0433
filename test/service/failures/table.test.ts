import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Meaning, meaningOf, meanings, type Row, rows } from '../../../src/service/failures/table.ts';

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;
const list = (items: readonly (string | RegExp)[] | undefined): string =>
  (items ?? []).map((item) => code(typeof item === 'string' ? item : `/${item.source}/`)).join(', ');
const range = (of: number | readonly [number, number]): string =>
  typeof of === 'number' ? String(of) : of.join('–');
const line = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const meaningLine = ([name, meaning]: readonly [string, Meaning]): string =>
  line(name, meaning.code === '' ? '' : code(meaning.code), meaning.made, meaning.class, meaning.about ?? '');

const rowLine = (row: Row): string =>
  line(
    row.is,
    (row.on ?? []).join(', '),
    (row.status ?? []).map(range).join(', '),
    [...(row.submit ?? []).map(String), ...(row.codes ?? []).map(code)].join(', '),
    list(row.words),
    row.from.replace(/^gateway /, ''),
  );

/** Section 8.5 of the page, as the table gives it. */
const written = [
  line('meaning', 'code', 'made', 'met', 'reaches'),
  '|---|---|---|---|---|',
  ...Object.entries(meanings).map(meaningLine),
  '',
  line('meaning', 'endpoint', 'status', 'code', 'words', 'source'),
  '|---|---|---|---|---|---|',
  ...rows.map(rowLine),
].join('\n');

describe('the table of refusals', () => {
  it('is written in the page about gateways, row by row', async () => {
    const page = await readFile('src/service/README.md', 'utf8');
    const section = page.slice(page.indexOf('### 8.5 '), page.indexOf('## 9. '));
    expect(section.slice(section.indexOf('| meaning')).trim()).toBe(written);
  });

  it('calls nothing lost that was certainly not made, and nothing refused that was made', () => {
    const all: readonly Meaning[] = Object.values(meanings);
    expect(all.filter(({ made, class: met }) => made === 'nothing' && met === 'lost')).toEqual([]);
    const final = ['stop', 'permanent', 'throttle'];
    expect(all.filter(({ made, class: met }) => made !== 'nothing' && final.includes(met))).toEqual([]);
  });

  it('agrees with the documents about the statuses after which a task may exist', async () => {
    const ambiguous = Array.from({ length: 200 }, (_, at) => at + 400).filter((status) => {
      const meant = meaningOf({ on: 'submit', status, message: '', codes: [], submit: undefined });
      return meant === 'unavailable';
    });
    const told: string[] = [];
    for (const file of [
      'README.md',
      'pipelines/README.md',
      'src/service/README.md',
      'schemas/pipeline.schema.json',
    ]) {
      const page = await readFile(file, 'utf8');
      for (const [found] of page.matchAll(/[\d, ]{0,9}\b500, 502, 504(?:,| or| and) [\d to–]+/g)) {
        const statuses = [...found.matchAll(/(\d{3})(?:(?: to |–)(\d{3}))?/g)].flatMap(
          ([, from, to = from]) =>
            Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at),
        );
        expect(statuses, `${file}: ${found}`).toEqual(ambiguous);
        told.push(file);
      }
    }
    expect(told).toHaveLength(7);
  });

  it('uses every meaning', () => {
    const used = new Set<string>(rows.map(({ is }) => is));
    expect(Object.keys(meanings).filter((name) => !used.has(name))).toEqual([]);
  });

  it('keeps no state between two matches of the same words', () => {
    expect(
      rows.flatMap(({ words = [] }) => words).filter((word) => word instanceof RegExp && word.flags !== 'i'),
    ).toEqual([]);
  });

  it.each([
    ['a channel that is gone for a moment', 'submit', 400, '该任务所属渠道已被禁用', 4, 'busy'],
    ['the same words of a read', 'read', 400, '该任务所属渠道已被禁用', 4, undefined],
    [
      'a remix that the account has not',
      'submit',
      200,
      '当前账号不支持 remix，请开启 remix 功能',
      4,
      'refused',
    ],
    ['a task that cannot be made again', 'submit', 200, '该任务不支持重新生成', 4, 'refused'],
    ['a ratio that is not taken', 'submit', 200, '暂不支持该宽高比', 4, 'refused'],
    ['a format that the account does not take', 'submit', 200, '当前账号不支持该图片格式', 4, 'refused'],
    [
      'a parameter that is not taken',
      'submit',
      400,
      'Parameter --draft is not enabled for this mode',
      4,
      'refused',
    ],
    ['what is not taken, without a word of whom', 'submit', 200, '不支持 niji', 4, 'refused'],
    [
      'a banned word that others are known by',
      'submit',
      200,
      '可能包含敏感词: disabled account',
      24,
      'banned',
    ],
    ['banned words about money', 'submit', 400, '敏感词: insufficient balance, 余额不足', 24, 'banned'],
    ['banned words about channels', 'submit', 200, 'banned: no available channel', 24, 'banned'],
    ['a mode that is not switched on', 'submit', 200, '慢速模式未开启', 4, 'not offered'],
    ['a video that is not switched on', 'submit', 200, '视频功能未启用', 9, 'not offered'],
    ['an accepted task whose words mention it', 'submit', 200, '提交成功，remix 未开启', 1, 'accepted'],
    ['a submission that was passed over', 'submit', 200, '忽略提交，未开启 mj', 1, 'not offered'],
    ['a service that is switched off', 'submit', 200, 'MidJourney service is disabled', 4, 'not offered'],
    [
      'a server that is down for the day',
      'submit',
      503,
      'This service is disabled for maintenance',
      undefined,
      'busy',
    ],
    ['a switched-off account', 'submit', 200, '账号已禁用', 4, 'account'],
    [
      'a broken connection of a proxy',
      'submit',
      503,
      'upstream connect error, reset reason: connection termination',
      undefined,
      'unavailable',
    ],
    ['an overloaded vendor', 'text', 529, 'Overloaded', undefined, 'busy'],
    [
      'a key that its vendor knows as leaked',
      'text',
      403,
      'Your API key was reported as leaked',
      undefined,
      'key',
    ],
    ['a token that ran out', 'text', 403, '该令牌已过期', undefined, 'key'],
    ['tokens that are too many', 'text', 400, 'max tokens not valid', undefined, undefined],
    ['a rule of the platform', 'text', 403, 'not allowed', undefined, 'forbidden'],
  ] as const)('knows %s', (_what, on, status, message, submit, meant) => {
    expect(meaningOf({ on, status, message, submit, codes: [] })).toBe(meant);
  });

  it('does not take an accepted task for a used-up quota, whatever words the pipeline adds', () => {
    const refusal = { on: 'submit', status: 200, message: 'accepted, 0 points left', codes: [] } as const;
    expect(meaningOf({ ...refusal, submit: 1 }, ['points left'])).toBe('accepted');
    expect(meaningOf({ ...refusal, submit: 4 }, ['points left'])).toBe('quota');
    expect(meaningOf({ ...refusal, submit: 24 }, ['points left'])).toBe('banned');
    expect(meaningOf({ ...refusal, submit: 1, message: 'ok, 余额不足 soon' })).toBe('accepted');
  });
});
