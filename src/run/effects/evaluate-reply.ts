import type { ReplyPiece } from '../../artifacts/writer.ts';
import { cutText } from '../../pipeline/diagnostics/terminal-text.ts';
import { replyChecker } from '../../pipeline/steps/reply-schema/check.ts';
import { replyFormat } from '../../pipeline/steps/reply-schema/format.ts';
import { withWrittenNumbers } from '../../pipeline/values/exact-json.ts';
import { canonicalJson, isMapping, type Value } from '../../pipeline/values/value.ts';
import type { JobError, JobRecord } from '../../plan/job.ts';
import { isTextRequest, type TextRequest, type TextResult } from '../../plan/job-request.ts';
import type { JsonObject, ReplyCandidate, TextReply } from '../../service/text-service.ts';
import type { ReplyVerdict } from '../machine/job.ts';
import { finishOf } from './finish-reason.ts';
import { respondToCalls, undeclaredCall } from './function-calls.ts';
import { type JsonReading, readJson, textAround } from './read-json.ts';

/** The verdict on a reply, and its files. */
export interface EvaluatedReply {
  readonly verdict: ReplyVerdict;
  readonly text: TextResult;
  /** Sorted by output number. Empty unless the verdict is `done`. */
  readonly pieces: readonly ReplyPiece[];
}

/** The fields of a job that its replies are judged by. */
export type JudgedBy = Pick<JobRecord, 'request' | 'call' | 'turns'>;

/**
 * Decides what a reply means for its job. The first candidate decides, because templates read that one; finish reasons explain the others.
 * Pure.
 */
export function evaluateReply(job: JudgedBy, given: TextReply): EvaluatedReply {
  const reply = { ...given, candidates: withWrittenNumbers(given.candidates) };
  const { request } = job;
  if (!isTextRequest(request)) throw new Error('Internal error: only a text job has an answer to be judged.');
  const expected = expectedJson(request);
  const kept = keptOf(reply, expected, job.call?.isStrict !== true);
  const verdict = verdictOf(job, reply, kept, expected);
  return {
    verdict,
    text: resultOf(reply, kept),
    pieces: verdict.kind === 'done' ? kept.flatMap(({ pieces }) => pieces) : [],
  };
}

function verdictOf(
  job: JudgedBy,
  reply: TextReply,
  kept: readonly Kept[],
  expected: ExpectedJson | undefined,
): ReplyVerdict {
  const [candidate] = reply.candidates;
  const explained = errorWith(reply);
  if (candidate === undefined) {
    const { blockReason, blockMessage, unexplained } = reply;
    if (blockReason === undefined)
      return invalid(explained('text.empty', 'The model gave no answer at all.'));
    const what = `The service blocked the prompt: ${named(blockReason, blockMessage)}.`;
    const blocked = explained('text.blocked', what);
    // Without a reason from the service, the model may have failed only by chance.
    return unexplained ? { kind: 'invalid', error: blocked, most: 1 } : failed(blocked);
  }
  const { refusal, finishReason = 'STOP', finishMessage, functionCalls, text, images } = candidate;
  if (refusal !== undefined && refusal !== '')
    return failed(explained('text.refused', `The model refused to answer: ${cutText(refusal)}`));
  const reason = named(finishReason, finishMessage);
  const holds = hasText(text) || images.length > 0;
  const accepted =
    job.call?.accept.some((name) => name.toUpperCase() === finishReason.toUpperCase()) ?? false;
  if (!(accepted && (holds || functionCalls.length > 0)))
    switch (finishOf(finishReason)) {
      case 'bad-call':
        return invalid(explained('text.bad-call', `The model made an invalid function call: ${reason}.`));
      case 'filtered':
        return failed(explained('text.filtered', `The answer was filtered: ${reason}.`));
      case 'other':
        return invalid(
          explained(
            'text.filtered',
            `The model ended its answer without saying why: ${reason}.${acceptAdvice(finishReason)}`,
          ),
        );
      case 'no-image':
        return invalid(explained('text.empty', `The model made no image: ${reason}.`));
      case 'length':
        return failed(holds ? cutOff(explained, reason, finishReason) : allThought(explained, reply));
      case 'unknown':
        return failed(
          explained(
            'text.filtered',
            `The answer ended for an unknown reason: ${reason}.${acceptAdvice(finishReason)}`,
          ),
        );
      case 'plain':
        break;
    }
  if (functionCalls.length > 0) {
    const answers = respondToCalls(job, candidate);
    if (answers !== undefined)
      return answers.ok
        ? { kind: 'calls', turns: answers.turns }
        : failed(explained(answers.code, answers.message));
    const undeclared = holds || accepted ? undefined : undeclaredCall(job.request, candidate);
    if (undeclared !== undefined)
      return failed(
        explained(
          'function.undeclared',
          `The model called the function "${cutText(undeclared)}" in place of an answer, and the step declares no such function (functions, tools).`,
        ),
      );
    return { kind: 'done' };
  }
  if (!holds)
    return invalid(
      explained('text.empty', `The model ended its answer (${finishReason}) with nothing in it.`),
    );
  return checkJson(kept[0], candidate, expected, explained) ?? { kind: 'done' };
}

function checkJson(
  kept: Kept | undefined,
  { text }: ReplyCandidate,
  expected: ExpectedJson | undefined,
  explained: Explained,
): ReplyVerdict | undefined {
  if (expected === undefined) return undefined;
  if (kept?.value === undefined)
    return invalid(
      explained('text.not-json', `The answer is not the requested JSON. It begins: ${excerpt(text)}`),
    );
  if (expected.schema === undefined) return undefined;
  const checked = replyChecker(expected.schema).check(kept.value.json);
  if (checked.ok) return undefined;
  return invalid(
    explained('text.schema', `The answer's JSON does not match its schema: ${checked.problems.join('; ')}.`),
  );
}

/** The saved part of a candidate, and its files. */
interface Kept {
  readonly candidate: TextResult['candidates'][number];
  readonly pieces: readonly ReplyPiece[];
  /** The candidate's text parsed as JSON, where the request asks for JSON. */
  readonly value?: { readonly json: unknown };
}

/** Numbers the outputs of all candidates in order: for each candidate first its text, if any, then its images. */
function keptOf(reply: TextReply, expected: ExpectedJson | undefined, isLenient: boolean): readonly Kept[] {
  let outputs = 0;
  return reply.candidates.map((candidate, index) => {
    const { text: said, images, functionCalls, finishReason } = candidate;
    const read = readExpected(candidate, expected, isLenient);
    const json = read?.isWord ? undefined : read;
    const onlyCalls = !hasText(said) && functionCalls.length > 0;
    // JSON found by the lenient reader is stored beside the text, which stays as it was sent.
    const isAsSent = json === undefined || json.passed !== undefined;
    const text = onlyCalls ? canonicalJson(functionCalls as unknown as Value) : isAsSent ? said : json.text;
    const pieces: ReplyPiece[] = [];
    if (hasText(text))
      pieces.push({
        kind: 'text',
        candidate: index + 1,
        text,
        mime: (json !== undefined && !isAsSent) || onlyCalls ? 'application/json' : 'text/plain',
      });
    const first = outputs + pieces.length + 1;
    for (const image of images) pieces.push({ kind: 'image', candidate: index + 1, ...image });
    outputs += pieces.length;
    return {
      candidate: {
        text,
        isJson: json !== undefined,
        ...(json?.passed && { read: { json: json.text, passed: json.passed } }),
        ...(finishReason === undefined ? {} : { finishReason }),
        parts: withoutImages(candidate.parts, first),
      },
      pieces,
      ...(read === undefined ? {} : { value: { json: read.value } }),
    };
  });
}

/** The JSON value of a candidate's text, where the request expects one. A truncated text is read as it is. */
function readExpected(
  { text, finishReason }: ReplyCandidate,
  expected: ExpectedJson | undefined,
  isLenient: boolean,
): (JsonReading & { readonly isWord?: true }) | undefined {
  if (expected === undefined || !hasText(text)) return undefined;
  const { schema, isWord } = expected;
  // Within sentences, a list may be a reference mark such as [1]. So without a schema only an object counts as the answer.
  const fits = (value: unknown): boolean =>
    schema === undefined ? isMapping(value) : replyChecker(schema).check(value).ok;
  const mayBeLenient = isLenient && isWord !== true && finishOf(finishReason) !== 'length';
  const read = readJson(text, mayBeLenient, fits);
  if (schema === undefined && read?.passed?.includes(textAround) && !fits(read.value)) return undefined;
  if (isWord !== true || (read !== undefined && fits(read.value))) return read;
  return { value: text.trim(), text, isWord: true };
}

/**
 * The parts, with output numbers in place of image data. Other inline data (an image of a thought, a sound) is left out: the whole reply
 * contains it.
 */
function withoutImages(parts: readonly JsonObject[], first: number): readonly Value[] {
  let output = first;
  return (parts as readonly Readonly<Record<string, Value>>[]).flatMap((part) => {
    const { inlineData } = part;
    if (!isMapping(inlineData) || typeof inlineData['data'] !== 'string') return [part];
    if (part['thought'] === true || !isImage(inlineData)) return [];
    const { data: _, ...rest } = inlineData;
    return [{ ...part, inlineData: { ...rest, output: output++ } }];
  });
}

/** The client uses the same rule to find the images of a reply, so that both count the same images. */
const isImage = ({ mimeType, data }: { readonly [name: string]: Value }): boolean =>
  typeof mimeType === 'string' && /^image\//i.test(mimeType) && data !== '';

function resultOf(reply: TextReply, kept: readonly Kept[]): TextResult {
  const { blockReason, model, responseId, requestId } = reply;
  return {
    candidates: kept.map(({ candidate }) => candidate),
    ...(blockReason === undefined ? {} : { blockReason }),
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

type Explained = (code: JobError['code'], message: string) => JobError;

const errorWith =
  ({ requestId }: TextReply): Explained =>
  (code, message) => ({ code, message, ...(requestId === undefined ? {} : { requestId }) });

const invalid = (error: JobError): ReplyVerdict => ({ kind: 'invalid', error });
const failed = (error: JobError): ReplyVerdict => ({ kind: 'failed', error });

const cutOff = (explained: Explained, reason: string, finishReason: string): JobError =>
  explained(
    'text.max-tokens',
    `The answer was cut off (${reason}). Raise the maximum tokens of an answer, or write \`accept: [${asYaml(finishReason)}]\` to take it as it is.`,
  );

/** Longest text that the `accept` option takes, in characters. */
const longestAccepted = 200;

const acceptAdvice = (reason: string): string =>
  reason.length > longestAccepted
    ? ''
    : ` If such an answer is a result, write \`accept: [${asYaml(reason)}]\`.`;

/** The word itself where YAML reads it as a string, otherwise the word in quotation marks. */
const asYaml = (text: string): string =>
  /^[A-Za-z_][A-Za-z_0-9]{2,}$/.test(text) && !/^(?:null|true|false|yes|off|nan)$/i.test(text)
    ? text
    : JSON.stringify(text);

/** The error of a reply whose tokens were all used for thinking (gateway 6.6). */
function allThought(explained: Explained, { usage }: TextReply): JobError {
  const thoughts = usage?.thoughts;
  return explained(
    'text.empty',
    `The model used up the tokens of its answer before it wrote anything${
      thoughts === undefined ? '' : `: ${thoughts} of them were spent on thinking`
    }. Raise maxOutputTokens (max_tokens of chat), or let it think less.`,
  );
}

const hasText = (text: string): boolean => text.trim() !== '';

/** Drops the final full stop of the service's reason, because it is used inside a sentence. */
const named = (reason: string, message: string | undefined): string =>
  cutText(message === undefined || message === '' ? reason : `${reason}: ${message}`).replace(/\.\s*$/, '');

/** The beginning of a text that is not the expected JSON, for an error message. */
const excerpt = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 80).replace(halfCharacter, '')}…` : text);

/** Half of a surrogate pair at the end of a text that was cut. */
const halfCharacter = /[\uD800-\uDBFF]$/;

/** What a request expects as the text of its reply; undefined: any text. */
export interface ExpectedJson {
  /** JSON schema of the text. Absent: any JSON. */
  readonly schema?: Value;
  /** True where the text is one of the schema's enum words, written without quotation marks (`text/x.enum`). */
  readonly isWord?: true;
}

/** Returns the JSON that a request expects: by `responseSchema`, its native equivalents, or chat's `response_format` (gateway 6.2). */
export function expectedJson({ kind, fields }: TextRequest): ExpectedJson | undefined {
  const { json, schema, isWord } = replyFormat(kind, fields);
  if (json !== true && isWord !== true) return undefined;
  return { ...(schema === undefined ? {} : { schema }), ...(isWord && { isWord }) };
}
