import type { Answer, ImageService, SubmitAnswer, Task } from './answer.ts';
import type { RequestFacts } from './classify.ts';
import { HttpClient, type ServiceOptions } from './http-client.ts';
import type { Reply } from './reply.ts';
import { receiveWhole } from './request.ts';
import { largestPart } from './request-size.ts';
import { readSubmit } from './submit.ts';
import { readTask } from './task.ts';
import { isUsableTaskId } from './task-id.ts';
import type { WireActionRequest } from './wire.ts';

export type ImageServiceOptions = ServiceOptions;

type Speed = 'relax' | 'fast' | 'turbo';
type Fields = Readonly<Record<string, unknown>>;

/**
 * The image workflow of service.md 4.1 over HTTP. It never repeats a request: the run is the one owner of retries. A
 * request that was given up by the caller ends as `connection.aborted`: of class `unsent` where it never left, else
 * `lost` (a submission) or `retry` (a fetch).
 *
 * Throws only for a base address or key that `readBaseUrl` and `readApiKey` would have refused.
 */
export function createImageService(options: ImageServiceOptions): ImageService {
  return new HttpImageService(new HttpClient(options, 8 * 1024 * 1024));
}

class HttpImageService implements ImageService {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** `extra` has the last word: it may add fields and replace ours, whose names gateways do not agree on. */
  imagine(
    request: { readonly fields: Fields; readonly extra?: Fields; readonly speed: Speed },
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>> {
    const body = { botType: this.#http.names.botType, ...request.fields, ...request.extra };
    return this.#submit('imagine', request.speed, body, signal);
  }

  action(
    request: {
      readonly taskId: string;
      readonly customId: string;
      readonly enableRemix?: boolean;
      readonly extra?: Fields;
      readonly speed: Speed;
    },
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>> {
    const { taskId, customId, enableRemix, extra, speed } = request;
    const body: WireActionRequest = {
      taskId,
      customId,
      ...(enableRemix !== undefined && { enableRemix }),
      ...extra,
    };
    return this.#submit('action', speed, body, signal);
  }

  async fetchTask(id: string, signal: AbortSignal): Promise<Answer<Task>> {
    if (!isUsableTaskId(id)) {
      const message = `The task id "${this.#http.shared.clean(id)}" cannot be asked for: an id is one word of at most 256 characters.`;
      return { ok: false, error: { code: 'service.bad-id', class: 'permanent', message } };
    }
    // The speed is a property of the submission: fetch has no prefix (service.md 4.1.5).
    const path = `/${this.#http.names.path}/task/${encodeURIComponent(id)}/fetch`;
    return this.#request('GET', path, undefined, signal, (reply, facts) => readTask(id, reply, facts));
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  #submit(
    what: 'imagine' | 'action',
    speed: Speed,
    body: Fields,
    signal: AbortSignal,
  ): Promise<Answer<SubmitAnswer>> {
    const { names } = this.#http;
    const prefix = { relax: '', fast: `/${names.fastPrefix}`, turbo: `/${names.turboPrefix}` }[speed];
    const path = `${prefix}/${names.path}/submit/${what}`;
    return this.#request('POST', path, body, signal, readSubmit);
  }

  #request<T>(
    method: 'GET' | 'POST',
    path: string,
    fields: Fields | undefined,
    signal: AbortSignal,
    read: (reply: Reply, facts: RequestFacts) => Answer<T>,
  ): Promise<Answer<T>> {
    const request = {
      method,
      path,
      timeoutMs: this.#http.requestMs,
      facts: {
        safe: method === 'GET',
        ...(fields !== undefined && { largestPart: () => largestPart(fields) }),
      },
      ...(fields !== undefined && { body: JSON.stringify(fields) }),
    };
    return this.#http.request(request, signal, receiveWhole, read);
  }
}
