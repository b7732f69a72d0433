import { classify, unusableResponse } from './failures/classify.ts';
import type { RequestFacts } from './failures/request-context.ts';
import { largestPart, readChunks } from './http/body/read.ts';
import type { HttpResponse } from './http/dispatch.ts';
import { type Receive, type Receiving, receiveWhole } from './http/exchange.ts';
import { members } from './http/json.ts';
import type { Reply } from './http/reply.ts';
import { bodyWithin, HttpClient, refusedHere, type ServiceOptions, tooLarge } from './http-client.ts';
import { texts } from './kinds.ts';
import type { ServiceResult } from './result.ts';
import { adviseText } from './text/classify.ts';
import { objectsIn, textMember } from './text/reply/native.ts';
import { type Received, readReply } from './text/reply/read.ts';
import { requestParts } from './text/request/fields.ts';
import { StreamReader, type TextForm } from './text/stream/reader.ts';
import type { JsonObject, Model, TextService } from './text-service.ts';

export interface TextServiceOptions extends ServiceOptions {
  /** Time limit of one text call, from connecting to the last byte, in ms. */
  readonly textMs: number;
  /** Time limit until the first byte of a streamed reply, in ms. */
  readonly firstByteMs: number;
  /** Longest silence in a text reply that has begun, in ms. */
  readonly idleMs: number;
  /** Largest body of a request, in bytes. Default 32 MiB, which is what gateways of this family accept (gateway 9.1). */
  readonly maxRequestBytes?: number;
}

const MiB = 1024 * 1024;

/** Most models whose streams are remembered: a model's name may be a template, so that their number has no bound. */
const maxModels = 256;

/** How long the end of the connection is awaited after `[DONE]`, in ms; some servers leave it open. */
const lingerMs = 1_000;

/**
 * Creates the text half of the service over HTTP (gateway 6.1, 7). It never repeats a request: the run owns all retries. A call that
 * was given up fails as `connection.aborted`, of class `unsent` where it never left, else `retry`.
 *
 * @throws only for a base address or key that `readBaseUrl` and `readApiKey` would have refused
 */
export function createTextService(options: TextServiceOptions): TextService {
  return new HttpTextService(options);
}

class HttpTextService implements TextService {
  readonly #http: HttpClient;
  readonly #options: TextServiceOptions;
  readonly #maxRequestBytes: number;
  readonly #streams = new Map<string, 'finishes' | 'lacks a reason'>();

  constructor(options: TextServiceOptions) {
    this.#http = new HttpClient(options, 64 * MiB);
    this.#options = options;
    this.#maxRequestBytes = options.maxRequestBytes ?? 32 * MiB;
  }

  readonly ask: TextService['ask'] = async (request, signal, onLeave) => {
    const { kind, fields, extra, stream, accept = [] } = request;
    const endpoint = texts[kind];
    const { model } = fields;
    if (typeof model !== 'string' || !isUsableModel(model))
      return refusedHere('service.bad-id', this.#badId(model));
    const largest = (): string | undefined => largestPart(requestParts(request));
    const images = [...request.images, ...request.earlier.flatMap((turn) => turn.images)];
    const imageBytes = images.reduce((sum, { data }) => sum + data.length, 0);
    const body = bodyWithin(this.#maxRequestBytes, imageBytes, () =>
      endpoint.body(request, this.#http.names),
    );
    if (body === undefined) return tooLarge(this.#maxRequestBytes, largest());
    const asked = { model: this.#http.shared.clean(model), fields, ...(extra && { extra }) };
    const { textMs, firstByteMs, idleMs } = this.#options;
    return this.#http.request(
      {
        method: 'POST',
        path: endpoint.path(model, stream, this.#http.names),
        endpoint: kind,
        body,
        place: endpoint.place,
        accept: stream ? 'text/event-stream, application/json' : undefined,
        timeoutMs: textMs,
        onLeave,
        silence: { idleMs, firstByteMs: stream ? firstByteMs : undefined },
        facts: {
          // A text call leaves nothing behind: it can be repeated.
          safe: true,
          largestPart: largest,
          on: 'text',
          offer: kind,
          model,
          advise: (meant, reply, words) => adviseText(meant, reply, words, asked),
        },
      },
      signal,
      receiveText(endpoint),
      (received, facts) => {
        const settled = this.#settled(received, `${kind} ${model}`);
        return readReply(settled, { read: endpoint.read, stream, accept }, facts);
      },
    );
  };

  /**
   * Judges a `[DONE]` without a finish reason: it ends an answer if no stream of this model ever had a reason. The first such answer is
   * asked again, because some gateways send `[DONE]` after a cut too.
   */
  #settled(received: Received, model: string): Received {
    if (received.kind === 'refusal') return received;
    const { end } = received;
    const known = this.#streams.get(model);
    if (end.kind === 'unfinished' && known === 'lacks a reason')
      return { ...received, end: { kind: 'answer', whole: end.whole } };
    const isReasoned = end.kind === 'answer' && end.streamed === true;
    if ((isReasoned || end.kind === 'unfinished') && known !== 'finishes')
      if (known !== undefined || this.#streams.size < maxModels)
        this.#streams.set(model, isReasoned ? 'finishes' : 'lacks a reason');
    return received;
  }

  models(signal: AbortSignal): Promise<ServiceResult<readonly Model[]>> {
    const facts = { safe: true, on: 'read', offer: 'models' } as const;
    const request = {
      method: 'GET',
      path: '/v1/models',
      endpoint: 'models',
      place: 'models',
      facts,
    } as const;
    return this.#http.request(
      { ...request, timeoutMs: this.#http.requestMs },
      signal,
      receiveWhole,
      readModels,
    );
  }

  get tellsLeaving(): boolean {
    return this.#http.tellsLeaving;
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  #badId(model: unknown): string {
    const shown = typeof model === 'string' ? ` "${this.#http.shared.clean(model)}"` : '';
    return `The model${shown} cannot be used: a model id is one word of at most 256 characters, as promptpress models lists it.`;
  }
}

/** Whether a model id can be put into a path: `.` and `..` would change it, and a lone surrogate cannot be encoded. */
const isUsableModel = (id: string): boolean =>
  id.length <= 256 && !/^\.{0,2}$/.test(id) && !/[\s\p{Cc}\p{Surrogate}]/u.test(id);

/** Reads an error response whole, and a reply chunk by chunk. */
const receiveText =
  (form: TextForm): Receive<Received> =>
  async (response, receiving) => {
    const isModelReply = response.status >= 200 && response.status < 300;
    if (!isModelReply) return { kind: 'refusal', reply: await receiveWhole(response, receiving) };
    return receiveReply(form, response, receiving);
  };

async function receiveReply(form: TextForm, response: HttpResponse, receiving: Receiving): Promise<Received> {
  const { status, headers } = response;
  const reply = { status, header: (name: string) => headers.get(name), body: { kind: 'empty' } } as const;
  const reader = new StreamReader(form);
  const end = await readEnd(reader, response, receiving);
  const { usage } = reader;
  return { kind: 'read', reply, end, ...(usage !== undefined && { usage }) };
}

async function readEnd(
  reader: StreamReader,
  response: HttpResponse,
  { maxBytes, hold, onBytes, failureOf }: Receiving,
): Promise<Extract<Received, { kind: 'read' }>['end']> {
  let held = 0;
  try {
    await readChunks(response.body, maxBytes, (chunk) => {
      reader.push(chunk);
      if (reader.isOver) return 'enough';
      if (reader.isDone) onBytes(lingerMs);
      // If everything has arrived already, no silence follows that needs a limit.
      else if (response.body?.hasEnded !== true) onBytes();
      // Counts the bytes that are kept, which are the smaller part of a stream.
      const more = Math.max(0, reader.kept - held);
      held += more;
      return more === 0 ? undefined : hold.take(more);
    });
  } catch (error) {
    // Nothing more was expected, or the bytes so far say more than the end of the connection.
    if (reader.isDone) return reader.end();
    return reader.broken() ?? { kind: 'lost', failure: failureOf(error) };
  }
  return reader.end();
}

/** Most models that are read from a list: no service has more. */
const most = 10_000;

/** Reads the reply to GET /v1/models (gateway 7.2): `{ data: [{ id, … }] }`, or the list alone. */
function readModels(reply: Reply, facts: RequestFacts): ServiceResult<readonly Model[]> {
  const failure = classify(reply, facts);
  if (failure !== undefined) return { ok: false, error: failure };
  const value = reply.body.kind === 'json' ? reply.body.value : undefined;
  const list = Array.isArray(value) ? value : members(value)?.['data'];
  if (!Array.isArray(list)) {
    return { ok: false, error: unusableResponse(reply, 'but its JSON is not a list of models', facts) };
  }
  const models = new Map<string, Model>();
  for (const item of objectsIn(list.slice(0, most))) {
    const model = readModel(item, facts);
    if (model !== undefined && !models.has(model.id)) models.set(model.id, model);
  }
  return { ok: true, value: [...models.values()] };
}

function readModel(item: JsonObject, facts: RequestFacts): Model | undefined {
  const { id, created, owned_by: ownedBy, supported_endpoint_types: endpoints } = item;
  // Pipelines contain ids unchanged, so an id that cannot be shown is refused.
  if (typeof id !== 'string' || id === '' || facts.clean(id) !== id) return undefined;
  return {
    id,
    ...textMember('ownedBy', typeof ownedBy === 'string' ? facts.clean(ownedBy) : ''),
    ...(Number.isSafeInteger(created) && (created as number) > 0 && { created: created as number }),
    endpoints: Array.isArray(endpoints)
      ? endpoints.filter((type) => typeof type === 'string').map(facts.clean)
      : [],
  };
}
