import type { InputReader } from '../../artifacts/inputs.ts';
import type { ArtifactWriter, SaveFailure } from '../../artifacts/writer.ts';
import type { KeepReplies } from '../../pipeline/pipeline.ts';
import { replyChecker } from '../../pipeline/steps/reply-schema/check.ts';
import { exactJson } from '../../pipeline/values/exact-json.ts';
import { isLongInteger, type Value } from '../../pipeline/values/value.ts';
import type { JobRecord } from '../../plan/job.ts';
import { isTextRequest, type TextRequest } from '../../plan/job-request.ts';
import type { RecordLookup } from '../../plan/slot.ts';
import type { Telling } from '../../service/result.ts';
import type {
  EarlierTurn,
  InlineImage,
  JsonObject,
  TextCallRequest,
  TextReply,
  TextService,
} from '../../service/text-service.ts';
import type { CallResult, ReplyVerdict } from '../machine/job.ts';
import { type ConversationTurn, conversationOf, type Said, type Shown } from './conversation.ts';
import { evaluateReply, expectedJson } from './evaluate-reply.ts';
import { type InputBudget, inlined, type LoadedInputs, read, withInputs } from './input-budget.ts';
import { type Writing, written } from './write-retry.ts';

/** Ports of text calls. */
export interface AskPorts {
  readonly text: TextService;
  readonly inputs: Pick<InputReader, 'load'>;
  readonly artifacts: Pick<ArtifactWriter, 'keep'>;
  readonly lookup: RecordLookup;
  readonly inputBudget: InputBudget;
  readonly writing: Writing;
  /** Which whole replies are written. Default `all`. */
  readonly keepReplies?: KeepReplies;
}

/**
 * Makes one text call from its record: reads its images, sends the request, evaluates the reply, and writes the usable part.
 *
 * @param signal aborts everything up to the reply; a reply that arrived is paid for and always written
 */
export async function ask(
  record: JobRecord,
  ports: AskPorts,
  signal: AbortSignal,
): Promise<CallResult & Telling> {
  const wrong = wrongSchema(record);
  if (wrong !== undefined) return { kind: 'unread', error: wrong };
  const read = await withRequest(record, ports, signal, (request) => ports.text.ask(request, signal));
  if ('unread' in read) return { kind: 'unread', error: read.unread };
  const { result } = read;
  const { told } = result;
  const call: CallResult = result.ok
    ? await keep(record, result.value, ports, signal)
    : { kind: 'refused', error: result.error };
  return told === undefined ? call : { ...call, told };
}

/** A template may produce an invalid schema, which no reply can satisfy. Such a call is not sent and not paid for. */
function wrongSchema({ request }: JobRecord): SaveFailure | undefined {
  const schema = isTextRequest(request) ? expectedJson(request)?.schema : undefined;
  if (schema === undefined) return undefined;
  const mistake = replyChecker(schema).mistakes.find(({ severity }) => severity === 'error');
  if (mistake === undefined) return undefined;
  const place = mistake.path.map((name) => `/${name}`).join('');
  return {
    code: 'schema.answer',
    class: 'permanent',
    message: `The schema of the answer is wrong${place === '' ? '' : ` at ${place}`}: ${mistake.message}`,
  };
}

/** Reads the images of a call and keeps them in memory only until the call ends. */
async function withRequest<T>(
  record: JobRecord,
  { inputs, lookup, inputBudget }: AskPorts,
  signal: AbortSignal,
  call: (request: TextCallRequest) => Promise<T>,
): Promise<LoadedInputs<T>> {
  return await withInputs(inputBudget, signal, async (reserve) => {
    const turns = conversationOf(record, lookup);
    await reserve(turns.flatMap(imagesIn).reduce((sum, image) => sum + image.bytes, 0));
    return await call(await requestOf(record, turns, inputs, signal));
  });
}

const imagesIn = ({ images, after }: ConversationTurn): readonly Shown[] => [
  ...images,
  ...after.flatMap(({ parts }) => parts.flatMap(({ image }) => image ?? [])),
];

async function requestOf(
  record: JobRecord,
  turns: readonly ConversationTurn[],
  inputs: AskPorts['inputs'],
  signal: AbortSignal,
): Promise<TextCallRequest> {
  const load = async ({ source }: Shown): Promise<InlineImage> =>
    inlined(read(await inputs.load(source, signal)));
  const said: (EarlierTurn & { readonly request: TextRequest })[] = [];
  // One image at a time, so that a call that shows fifty does not open fifty files or connections at once.
  for (const { request, images: shown, after: contents } of turns) {
    const images: InlineImage[] = [];
    for (const image of shown) images.push(await load(image));
    const after: JsonObject[] = [];
    for (const content of contents) after.push(await contentOf(content, load));
    said.push({ request, fields: request.fields, images, after });
  }
  const own = said.pop();
  if (own === undefined) throw new Error('Internal error: a conversation without a turn.');
  const { kind, fields, extra } = own.request;
  return {
    kind,
    fields,
    images: own.images,
    earlier: said.map(({ fields: declared, images, after }) => ({ fields: declared, images, after })),
    turns: own.after,
    ...(extra === undefined ? {} : { extra }),
    stream: record.call?.stream ?? false,
    ...(record.call && { accept: record.call.accept }),
  };
}

/** Returns a content to send again, with the data of its images. */
async function contentOf(
  { role, parts }: Said,
  load: (image: Shown) => Promise<InlineImage>,
): Promise<JsonObject> {
  const whole: Value[] = [];
  for (const { part, image } of parts)
    whole.push(
      image === undefined ? part : { ...(part as JsonObject), inlineData: { ...(await load(image)) } },
    );
  return { role, parts: whole };
}

/** Evaluates a reply, and writes the files of its images and the whole reply where they are requested. */
async function keep(
  record: JobRecord,
  reply: TextReply,
  { artifacts, lookup, writing, keepReplies = 'all' }: AskPorts,
  signal: AbortSignal,
): Promise<CallResult> {
  const { verdict, text, pieces } = evaluateReply(record, reply);
  const usage = reply.usage === undefined ? {} : { usage: reply.usage };
  const asked = { verdict, text, artifacts: [], ...usage };
  // A slot that was resolved during the call may request files that no slot requested before.
  const isKept = record.keep || lookup(record.key)?.keep === true;
  // Only a usable reply has pieces: any other one leaves the files of the previous reply.
  const images = isKept && pieces.some(({ kind }) => kind === 'image') ? pieces : [];
  const keepsReply = isKept && isReplyKept(keepReplies, verdict);
  // An earlier call, or the previous result, may have left images.
  const isAgain =
    isKept && verdict.kind === 'done' && record.attempts > 1 && images.length + record.artifacts.length > 0;
  if (images.length === 0 && !keepsReply && !isAgain) return { kind: 'answered', asked };
  const goesOn = verdict.kind === 'calls';
  // A paid reply is written even when the run is left: it is one line and a few files at most.
  const request = {
    key: record.key,
    pieces: images,
    isAgain,
    ...(keepsReply ? { answer: wholeReply(reply, verdict) } : {}),
  };
  const write = async () => await artifacts.keep(request, never);
  const kept = await written(write, writing, signal);
  if (!kept.ok) {
    // The record has the responses of this round, so a reply that could not be written is not a failure.
    if (goesOn && kept.error.class !== 'stop') return { kind: 'answered', asked };
    return { kind: 'unwritten', error: kept.error, text, ...usage };
  }
  const { reply: place } = kept.value;
  return {
    kind: 'answered',
    asked: {
      ...asked,
      text: { ...text, ...(place === undefined ? {} : { reply: place }) },
      artifacts: kept.value.artifacts,
    },
  };
}

/** Whether the whole reply is written. A reply that calls functions is neither a result nor a failure. */
const isReplyKept = (keepReplies: KeepReplies, { kind }: ReplyVerdict): boolean =>
  keepReplies === 'all' || (keepReplies === 'failed' && (kind === 'failed' || kind === 'invalid'));

/** The whole reply as JSON, without the images of an unusable reply. */
const wholeReply = ({ whole }: TextReply, { kind }: ReplyVerdict): string =>
  exactJson(kind === 'done' ? whole : withoutData(whole));

function withoutData(value: unknown, name = ''): unknown {
  if (typeof value === 'string')
    return name === 'data' && value.length > longestData ? `(${value.length} characters of Base64)` : value;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutData(item));
  if (typeof value !== 'object' || value === null || isLongInteger(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutData(inner, key)]));
}

/** A signal that never aborts, for writing a paid reply. */
const never = new AbortController().signal;

/** Texts longer than this under the name `data` are the data of files. */
const longestData = 1024;
