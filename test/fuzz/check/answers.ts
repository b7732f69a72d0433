import { replyChecker } from '../../../src/pipeline/steps/reply-schema/check.ts';
import type { Value } from '../../../src/pipeline/values/value.ts';
import type { TextRequest } from '../../../src/plan/job-request.ts';
import { evaluateReply, type JudgedBy } from '../../../src/run/effects/evaluate-reply.ts';
import { parseBounded } from '../../../src/service/http/json.ts';
import { texts } from '../../../src/service/kinds.ts';
import type { ReplyUsage } from '../../../src/service/result.ts';
import type { StreamEnd } from '../../../src/service/text/reply/end.ts';
import { StreamReader } from '../../../src/service/text/stream/reader.ts';
import type { TextReply } from '../../../src/service/text-service.ts';
import { type Input, streamOf, textOf } from '../input.ts';
import { Broken, type Run } from './law.ts';

/** The checks of what a service answers: bytes into an answer, an answer into a verdict, JSON against a schema. */

type Kind = TextRequest['kind'];

/** A message is read by a person, and stands in a row of the manifest. */
const longestMessage = 10_000;

interface Read {
  readonly end: StreamEnd;
  readonly usage: ReplyUsage | undefined;
}

/** As the client does: nothing is pushed once the end is known. */
function read(kind: Kind, chunks: Iterable<Uint8Array>): Read {
  const reader = new StreamReader(texts[kind]);
  for (const chunk of chunks) {
    if (reader.isOver) break;
    reader.push(chunk);
  }
  const end = reader.end();
  return { end, usage: reader.usage };
}

/** Chunkings that every small input is read in besides its own. */
function* chunkings(bytes: Buffer): Generator<readonly Buffer[]> {
  yield [bytes];
  for (const step of [1, 7]) {
    yield Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) =>
      bytes.subarray(at * step, (at + 1) * step),
    );
  }
}

const isUtf8 = (bytes: Buffer): boolean => bytes.equals(Buffer.from(bytes.toString('utf8'), 'utf8'));

/** What of an end depends on the bytes alone. */
const described = ({ end, usage }: Read): string =>
  JSON.stringify([end, usage], (name, value: unknown) => (name === 'cause' ? undefined : value));

/** @throws Broken where what is read depends on how the bytes were cut */
function sameHoweverCut(kind: Kind, bytes: Buffer, first: Read): void {
  const isText = isUtf8(bytes);
  for (const chunks of chunkings(bytes)) {
    const other = read(kind, chunks);
    // Of bytes that are no text, it may matter what was read before that was seen; an answer is none of it.
    const isSame = isText
      ? described(other) === described(first)
      : (other.end.kind === 'answer') === (first.end.kind === 'answer');
    if (!isSame)
      throw new Broken(
        `In ${chunks.length} chunks it is\n${described(other).slice(0, 400)}\nand not\n${described(first).slice(0, 400)}`,
      );
  }
}

const counts = (usage: ReplyUsage | undefined): readonly string[] => {
  const wrong = Object.entries(usage ?? {}).find(
    ([, count]) => !Number.isSafeInteger(count) || Number(count) < 0,
  );
  if (wrong !== undefined) throw new Broken(`The count ${wrong[0]} is ${String(wrong[1])}.`);
  return [];
};

const schema: Value = { type: 'object', properties: { best: { type: 'integer' } }, required: ['best'] };

/** Jobs that the answer could be for. */
const jobs = (kind: Kind): readonly JudgedBy[] => {
  const fields = { model: 'text-pro', prompt: 'x' };
  const job = (more: TextRequest['fields'], accept: readonly string[] = []): JudgedBy => ({
    request: { kind, fields: { ...fields, ...more } },
    call: { stream: true, accept },
  });
  if (kind === 'chat')
    return [job({}), job({ response_format: { type: 'json_schema', json_schema: { schema } } }, ['length'])];
  const functions = { weather: { answer: { sky: 'clear' } } };
  return [job({}), job({ responseSchema: schema }, ['MAX_TOKENS']), job({ functions, rounds: 1 })];
};

const failures = new Set([
  'text.blocked',
  'text.filtered',
  'text.refused',
  'text.max-tokens',
  'text.empty',
  'text.not-json',
  'text.schema',
  'text.bad-call',
  'function.unanswered',
  'function.undeclared',
  'function.rounds',
]);

/** @throws Broken where the verdict on an answer, or what is kept of it, is not what the other rooms rely on */
function lawfulVerdict(job: JudgedBy, reply: TextReply): string {
  const { verdict, text, pieces } = evaluateReply(job, reply);
  JSON.stringify(text);
  if (text.candidates.length !== reply.candidates.length) throw new Broken('A candidate was lost.');
  for (const { isJson, text: said, read } of text.candidates) if (isJson) JSON.parse(read?.json ?? said);
  if (verdict.kind !== 'done' && pieces.length > 0)
    throw new Broken(`There are files of what is ${verdict.kind}.`);
  if (verdict.kind === 'done' && pieces.length === 0) throw new Broken('It is done, and nothing is kept.');
  if (verdict.kind === 'calls' && verdict.turns.length !== 2) throw new Broken('A round has two turns.');
  if (verdict.kind === 'done' || verdict.kind === 'calls') return verdict.kind;
  const { code, message } = verdict.error;
  if (!failures.has(code)) throw new Broken(`The code ${code} is unknown.`);
  if (message.length > longestMessage) throw new Broken(`${code} is said in ${message.length} characters.`);
  return code;
}

/** Bytes that a service answers with, as a stream or whole. */
export function replyRun(input: Input): Run {
  const kind = input.form as Kind;
  return async () => {
    const reader = new StreamReader(texts[kind]);
    const seen: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of streamOf(input)) {
      bytes += chunk.length;
      if (bytes <= 16 * 1024) seen.push(chunk);
      if (reader.isOver) break;
      reader.push(chunk);
    }
    const isWhole = !reader.isOver;
    const end = reader.end();
    const { usage } = reader;
    counts(usage);
    if (bytes <= 16 * 1024 && isWhole) sameHoweverCut(kind, Buffer.concat(seen), { end, usage });
    if (end.kind !== 'answer') return [end.kind];
    const reply = texts[kind].read(end.whole);
    counts(reply.usage);
    return ['answer', ...jobs(kind).map((job) => lawfulVerdict(job, reply))];
  };
}

/** The JSON of a text, or undefined. */
function jsonOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseBounded(text) };
  } catch {
    return undefined;
  }
}

/** A schema, and an answer that is checked against it. */
export function schemaRun({ form, pieces: [first, ...rest] }: Input): Run {
  const declared = jsonOf(first?.text ?? '');
  const result = jsonOf(textOf({ pieces: rest }));
  return () => {
    if (declared === undefined || result === undefined) return Promise.resolve(['no json']);
    const checker = replyChecker(declared.value as Value);
    const { mistakes: diagnostics } = checker;
    for (const { path, message, hint = '' } of diagnostics)
      if (message.length + hint.length + path.join('/').length > 2 * longestMessage)
        throw new Broken(`A mistake is described in ${message.length + hint.length} characters.`);
    const verdict = checker.check(result.value);
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    if (verdict.ok) {
      if (errors.length > 0) throw new Broken('An answer is right by a schema that is wrong.');
      return Promise.resolve([]);
    }
    if (form === 'fits') throw new Broken(`It fits, and is said not to: ${verdict.problems.join('; ')}`);
    const { length } = verdict.problems.join('; ');
    if (verdict.problems.length === 0 || length > longestMessage)
      throw new Broken(`${verdict.problems.length} problems are described in ${length} characters.`);
    return Promise.resolve([errors.length > 0 ? 'schema.wrong' : 'text.schema']);
  };
}
