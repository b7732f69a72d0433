import { fillIn, missingVariables } from '../../src/app/service/settings.ts';
import type { Locate } from '../../src/pipeline/diagnostics/diagnostic.ts';
import { maskSecrets } from '../../src/pipeline/diagnostics/mask-secrets.ts';
import { printable } from '../../src/pipeline/diagnostics/terminal-text.ts';
import { parsePath } from '../../src/pipeline/selectors/parse.ts';
import { readJson } from '../../src/run/effects/read-json.ts';
import { judgeTaskFailure } from '../../src/run/machine/retry/fail-reason.ts';
import { parsePrompt } from '../../src/sandbox/prompt/flags.ts';
import { countTokens } from '../../src/sandbox/text/models.ts';
import { rangeOf, stemsOf, wishedLength } from '../../src/sandbox/text/say/wishes.ts';
import { readErrorWords } from '../../src/service/failures/error-words.ts';
import { readBaseUrl } from '../../src/service/http/base-url.ts';
import { parseBounded, parseJson } from '../../src/service/http/json.ts';
import { readReplyText } from '../../src/service/http/reply.ts';
import { readRetryAfter } from '../../src/service/http/retry-after.ts';
import { makeClean } from '../../src/service/http/sanitize.ts';
import { secretMaskOf } from '../../src/service/http/secrets.ts';
import { splitPrompts } from '../../src/service/image/prompts.ts';
import { toTask } from '../../src/service/image/task.ts';
import { texts } from '../../src/service/kinds.ts';
import { rejectionHint } from '../../src/service/text/refusal-hints.ts';
import { StreamReader } from '../../src/service/text/stream/reader.ts';
import { rowsOf } from '../pipeline/table-rig.ts';
import type { Bench } from './comparison.ts';

const MB = 1_000_000;

const mask = secretMaskOf(['sk-0123456789abcdef']);
const clean = makeClean(mask);
const facts = {
  safe: true,
  label: 'GET /task',
  baseUrl: 'http://localhost',
  mask,
  dataMask: mask,
  clean,
  now: () => 0,
};
const locate: Locate = (offset, length) => ({ line: 1, column: offset + 1, length });
const pipeline = { source: { file: 'p.yaml', folder: '/', text: '' } };
const task = (member: string) => (text: string) => toTask('1', { status: 'FAILURE', [member]: text }, facts);
const finished = (member: string) => (text: string) =>
  toTask('1', { status: 'SUCCESS', [member]: text }, facts);
const filled =
  (unit: string, before = '', after = '') =>
  (length: number): string =>
    before + unit.repeat(Math.ceil(length / unit.length)) + after;
const stream = (text: string): unknown => {
  const reader = new StreamReader(texts.chat);
  reader.push(Buffer.from(text));
  return reader.end();
};

/**
 * Readers of texts that others wrote, each with the texts that would take it longest. A pipeline file has a bound of its own,
 * 1 Mi characters, and is not among them.
 */
const readers: Readonly<
  Record<string, readonly [read: (text: string) => unknown, ...texts: ((length: number) => string)[]]>
> = {
  progress: [task('progress'), filled(' ', '1', 'x'), filled('1', '', 'x'), filled('1.')],
  reason: [
    (text) => judgeTaskFailure(text, 'FAILURE'),
    filled('account '),
    filled('wait '),
    filled('subscription '),
    filled('banned'),
    filled('x'),
  ],
  words: [task('failReason'), filled(' ', 'a', 'b'), filled('\u0007'), filled('(request id: '), filled('a ')],
  error: [
    (text) => readErrorWords({ error: { message: text } }, clean),
    filled('( '),
    filled('(request id'),
    filled('(request id: x) '),
  ],
  page: [(text) => readReplyText(text, parseJson), filled('<title'), filled('<'), filled(' ', 'x', 'x')],
  json: [
    (text) => readReplyText(text, parseJson),
    filled('['),
    filled('1', '[', ']'),
    filled('"', '{"a":"', '"}'),
    filled('1234567890123456789,', '[', '1]'),
    filled(' ', '[', '1'),
    filled('[ '),
  ],
  bounded: [parseBounded, filled(': '), filled('1234567890123456789,', '[', '1]'), filled('\\', '["', '"]')],
  fence: [
    (text) => readJson(text, true, () => true),
    filled(' ', '```json\n', 'x'),
    filled('\n', '```\n', 'x```'),
    filled('\t', '```\n', '\r\n```\n```'),
    filled('```\n'),
    filled(' ', '', '```'),
  ],
  prompts: [
    finished('prompt'),
    filled(' '),
    filled('\n '),
    filled('1. '),
    filled('1\uFE0F\u20E3 '),
    filled('\n1. a'),
    filled('>'),
  ],
  split: [splitPrompts, filled('*', '', 'x'), filled('\r'), filled('1'), filled('\n\n'), filled('1\uFE0F')],
  rejection: [
    (text) => rejectionHint({}, clean(text), { model: 'm', fields: {} }),
    filled('thinking level '),
    filled('Unknown name "'),
  ],
  delay: [
    (text) =>
      readRetryAfter(
        (name) => (name === 'retry-after' ? text : null),
        () => 0,
      ),
    filled('1'),
    filled('Mon, '),
    filled(' '),
  ],
  stream: [
    stream,
    filled('\r'),
    filled('\n'),
    filled('a\n'),
    filled('data: \n'),
    filled('data: {}\r\r'),
    filled('x', 'data: "'),
    filled(':\r'),
  ],
  address: [readBaseUrl, filled('/', 'http://localhost', 'x'), filled(' ', '', 'x'), filled('/', 'http://a')],
  variables: [
    (text) => fillIn(text, 'service.baseUrl', { env: { A: '1' }, pipeline }),
    filled('${A:-'),
    filled('${A'),
    filled('$', '${A:-'),
    filled('${A}'),
  ],
  missing: [(text) => missingVariables(text, {}), filled('${A:-'), filled('${A}'), filled('$')],
  secrets: [
    maskSecrets,
    filled('api_key'),
    filled('password '),
    filled('://a'),
    filled('secret: '),
    filled('://', '', '@'),
    filled('sk-'),
    filled('"', 'secret: '),
  ],
  path: [(text) => parsePath(text, locate), filled('U1 '), filled('('), filled('"')],
  terminal: [printable, filled('\u0000'), filled('a')],
  csv: [
    (text) => rowsOf('csv', text),
    filled('"', 'a\n'),
    filled(',', 'a\n'),
    filled('a\n'),
    filled('""', 'a\n"'),
  ],
  jsonl: [(text) => rowsOf('jsonl', text), filled('{"a":1}\n'), filled('['), filled(' ')],
  flags: [parsePrompt, filled(' --a'), filled(' '), filled('--ar 1:'), filled('— '), filled('a', 'x --')],
  wishes: [
    (text) => [wishedLength(text), rangeOf(text, 1), stemsOf(text), countTokens(text)],
    filled('1 '),
    filled('1 to '),
    filled(' '),
    filled('one '),
    filled('at most '),
    filled('aB'),
  ],
};

/** CPU time that reading takes, in ms; what a reader throws is its answer. */
async function cpu(read: (text: string) => unknown, text: string): Promise<number> {
  const before = process.cpuUsage();
  try {
    await read(text);
  } catch {
    // A refusal is read as well.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** For each reader and text: CPU at 2 MB against CPU at 1 MB. */
export const outside: Readonly<Record<string, Bench>> = Object.fromEntries(
  Object.entries(readers).flatMap(([name, [read, ...texts]]) =>
    texts.map((text, index): [string, Bench] => [
      `outside-${name}-${index + 1}`,
      {
        asks: `twice the text should take twice as long: ${JSON.stringify(text(40).slice(0, 60))}`,
        prepare: () => ({
          unit: 'ms of CPU',
          left: { name: '2 MB', measure: () => cpu(read, text(2 * MB)) },
          right: { name: '1 MB', measure: () => cpu(read, text(MB)) },
        }),
      },
    ]),
  ),
);
