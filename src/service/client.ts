import type { RequestFacts } from './failures/request-context.ts';
import { largestPart } from './http/body/read.ts';
import { receiveWhole } from './http/exchange.ts';
import type { Reply } from './http/reply.ts';
import {
  bodyWithin,
  HttpClient,
  refusedHere,
  type ServiceOptions,
  type ServiceRequest,
  tooLarge,
} from './http-client.ts';
import {
  changeButtons,
  changeOf,
  changePrefix,
  type ImageRequest,
  imageBody,
  imageBytes,
  imageParts,
} from './image/request.ts';
import { readSeed } from './image/seed.ts';
import { readSubmit } from './image/submit.ts';
import { readTask } from './image/task.ts';
import { isUsableTaskId } from './image/task-id.ts';
import { readTaskList } from './image/task-list.ts';
import type { ImageService, Submission, SubmitResult, Task } from './image-service.ts';
import { entries } from './kinds.ts';
import type { OnLeave, ServiceResult } from './result.ts';
import type { JsonObject } from './text-service.ts';

export interface ImageServiceOptions extends ServiceOptions {
  /** Largest body of a request, in bytes. Default 32 MiB, which is what gateways of this family accept (gateway 9.1). */
  readonly maxRequestBytes?: number;
  /** How buttons are pressed (gateway 2.4). Default `auto`. */
  readonly clicks?: 'auto' | 'action' | 'change';
  /** Largest list of all tasks after decompression, in bytes: it may hold thousands. Default 64 MiB. */
  readonly maxListBytes?: number;
}

const MiB = 1024 * 1024;

type ImageHttpRequest = Pick<
  ServiceRequest,
  'method' | 'path' | 'endpoint' | 'body' | 'facts' | 'maxBodyBytes' | 'onLeave'
>;

/**
 * Creates the client of the image workflow (gateway 2.1) over HTTP. It never repeats a request: the run owns all retries. A request
 * that the caller aborts fails as `connection.aborted`: class `unsent` if it never left, else `lost` (a submission) or `retry` (a
 * poll).
 *
 * @throws only for a base address or key that `readBaseUrl` and `readApiKey` would reject
 */
export const createImageService = (options: ImageServiceOptions): ImageService =>
  new HttpImageService(options);

class HttpImageService implements ImageService {
  readonly #http: HttpClient;
  readonly #maxRequestBytes: number;
  readonly #maxListBytes: number;
  readonly #clicks: 'auto' | 'action' | 'change';

  constructor(options: ImageServiceOptions) {
    this.#http = new HttpClient(options, 8 * MiB);
    this.#maxRequestBytes = options.maxRequestBytes ?? 32 * MiB;
    this.#maxListBytes = options.maxListBytes ?? 64 * MiB;
    this.#clicks = options.clicks ?? 'auto';
  }

  readonly action: ImageService['action'] = (request, signal, onLeave) => {
    const { taskId, customId, enableRemix } = request;
    const isChange = customId.startsWith(changePrefix) || (this.#clicks === 'change' && enableRemix !== true);
    const change = isChange ? changeOf(customId) : undefined;
    if (change !== undefined)
      return this.#submit('change', request, { taskId, ...change }, {}, signal, onLeave);
    const fields = { taskId, customId, ...(enableRemix !== undefined && { enableRemix }) };
    return this.#submit('action', request, fields, {}, signal, onLeave);
  };

  readonly modal: ImageService['modal'] = (request, signal, onLeave) => {
    const { taskId, prompt, mask } = request;
    const fields = { taskId, ...(prompt !== undefined && { prompt }) };
    return this.#submit('modal', request, fields, { ...(mask && { maskBase64: mask }) }, signal, onLeave);
  };

  readonly begin: ImageService['begin'] = (request, signal, onLeave) => {
    const { path, body } = entries[request.kind];
    const { fields, images } = body({ botType: this.#http.names.botType, ...request.fields }, request);
    return this.#submit(path, request, fields, images, signal, onLeave);
  };

  readonly fetchTask: ImageService['fetchTask'] = async (id, signal, onLeave) => {
    if (!isUsableTaskId(id)) {
      const message = `The task id "${this.#http.shared.clean(id)}" cannot be fetched: an id is one word of at most 256 characters.`;
      return refusedHere('service.bad-id', message);
    }
    // The speed is a property of the submission: fetch has no prefix (gateway 1.5).
    const path = `/${this.#http.names.path}/task/${encodeURIComponent(id)}/fetch`;
    const request = { method: 'GET', path, endpoint: 'fetch', facts: reading('fetch'), onLeave } as const;
    return this.#request(request, signal, (reply, facts) => {
      const read = readTask(id, reply, facts);
      return read.ok ? { ok: true, value: this.#clickable(read.value) } : read;
    });
  };

  readonly readSeed: NonNullable<ImageService['readSeed']> = (id, signal, onLeave) => {
    const path = `/${this.#http.names.path}/task/${encodeURIComponent(id)}/image-seed`;
    const facts = reading('seeds');
    return this.#request({ method: 'GET', path, endpoint: 'image-seed', facts, onLeave }, signal, readSeed);
  };

  readonly fetchTasks: ImageService['fetchTasks'] = async (ids, signal, onLeave) => {
    const usable = [...new Set(ids)].filter(isUsableTaskId);
    if (usable.length === 0) return { ok: true, value: [] };
    const path = `/${this.#http.names.path}/task/list-by-condition`;
    const body = JSON.stringify({ ids: usable });
    const request = { method: 'POST', path, endpoint: path, body, facts: reading('lists'), onLeave } as const;
    return this.#list(request, usable, signal);
  };

  readonly listTasks: NonNullable<ImageService['listTasks']> = (signal, onLeave) => {
    const path = `/${this.#http.names.path}/task/list`;
    const request = { method: 'GET', path, endpoint: path, facts: reading('lists'), onLeave } as const;
    return this.#list({ ...request, maxBodyBytes: this.#maxListBytes }, undefined, signal);
  };

  get tellsLeaving(): boolean {
    return this.#http.tellsLeaving;
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  #list(
    request: ImageHttpRequest,
    ids: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<ServiceResult<readonly Task[]>> {
    return this.#request(request, signal, (reply, facts) => {
      const read = readTaskList(ids, reply, facts);
      return read.ok ? { ok: true, value: read.value.map((task) => this.#clickable(task)) } : read;
    });
  }

  /** Makes a finished task clickable: where the gateway shows no buttons at all, a grid gets those that `change` can press. */
  #clickable({ buttonless, ...task }: Task): Task {
    const { endpoints } = this.#http;
    endpoints.showsButtons ||= task.buttons.length > 0;
    const isChange = this.#clicks === 'change' || (this.#clicks === 'auto' && !endpoints.showsButtons);
    if (buttonless === undefined || !isChange) return task;
    return { ...task, buttonless, buttons: buttonless === 'grid' ? changeButtons : [] };
  }

  async #submit(
    what: string,
    { extra, speed, tag }: Submission,
    fields: JsonObject,
    images: ImageRequest['images'],
    signal: AbortSignal,
    onLeave: OnLeave | undefined,
  ): Promise<ServiceResult<SubmitResult>> {
    const { names } = this.#http;
    const prefix = speed === undefined ? '' : names[`${speed}Prefix`];
    const path = `${prefix === '' ? '' : `/${prefix}`}/${names.path}/submit/${what}`;
    const request: ImageRequest = { fields, images, extra, tag };
    const largest = (): string | undefined => largestPart(imageParts(request));
    const body = bodyWithin(this.#maxRequestBytes, imageBytes(request), () => imageBody(request));
    if (body === undefined) return tooLarge(this.#maxRequestBytes, largest());
    const facts = { safe: false, on: 'submit', offer: what, largestPart: largest } as const;
    const posted = { method: 'POST', path, endpoint: path, body, facts, onLeave } as const;
    const result = await this.#request(posted, signal, readSubmit);
    if (result.ok || result.error.status !== 404 || prefix === '') return result;
    const hint = `The path begins with ${prefix} for the speed ${speed}; not every gateway has it: leave speed out (service.speed, --speed).`;
    return { ...result, error: { ...result.error, message: `${result.error.message} ${hint}` } };
  }

  #request<T>(
    request: ImageHttpRequest,
    signal: AbortSignal,
    read: (reply: Reply, facts: RequestFacts) => ServiceResult<T>,
  ): Promise<ServiceResult<T>> {
    const { requestMs } = this.#http;
    return this.#http.request(
      { ...request, place: 'image', timeoutMs: requestMs },
      signal,
      receiveWhole,
      read,
    );
  }
}

const reading = (offer: string) => ({ safe: true, on: 'read', offer }) as const;
