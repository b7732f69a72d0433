import { isPassingStatus } from './http/statuses.ts';
import type { Names } from './names.ts';
import type { ServiceFailure, ServiceResult } from './result.ts';

/**
 * How the key is sent (gateway 1.4). `bearer`: as `Authorization: Bearer`, on image paths in `names.imageKeyHeader` too; `header`: only
 * in `names.imageKeyHeader` on image paths, and only in `names.keyHeader` to the native text endpoint; `raw`: on image paths as
 * `Authorization` without `Bearer`; `none`: not at all on image paths. Chat and models always use Bearer.
 */
export type Auth = 'bearer' | 'header' | 'raw' | 'none';

/** The kind of a request, which decides where the key is sent. */
export type KeyPlace = 'image' | 'native' | 'chat' | 'models';

/** One way to send the key on image paths; `both`: as Bearer and in the header of images. */
type Form = Auth | 'both';

type Headers = Readonly<Record<string, string>>;

/** Number of different requests, refused without words, after which the key is at fault. */
const maxEmpty = 3;

/** Number of refusals without words, of fewer different requests, after which the key is at fault. */
const maxEmptyAgain = 6;

/**
 * Decides where the key stands in requests. Gateways with a header for images read the key of image paths there, or in `Authorization`
 * with or without Bearer, and call it wrong in any other form. So until something has worked, a refused key is tried in the other forms
 * by free requests, and the refused request is repeated in the accepted form: it has made nothing.
 */
export class KeyForms {
  readonly #apiKey: string;
  readonly #names: Names;
  readonly #auth: Auth;
  readonly #onFound: ((words: string) => void) | undefined;
  /** Forms that image paths may require, the configured one first. */
  readonly #forms: readonly Form[];
  #form: Form;
  #isSearched = false;
  #search: Promise<unknown> | undefined;
  /** Places where a request has succeeded. */
  readonly #worked = new Set<KeyPlace>();
  /** Refusals without words: how many, and of which requests. */
  readonly #empty = new Map<KeyPlace, { times: number; readonly requests: Set<string> }>();

  /** @param apiKey empty: no key */
  constructor(apiKey: string, names: Names, auth: Auth, onFound?: (words: string) => void) {
    this.#apiKey = apiKey;
    this.#names = names;
    this.#auth = auth;
    this.#onFound = onFound;
    const hasHeader = names.imageKeyHeader !== '';
    this.#form = !hasHeader && auth === 'header' ? 'bearer' : hasHeader && auth === 'bearer' ? 'both' : auth;
    const others: readonly Form[] = hasHeader && auth !== 'none' ? ['both', 'header', 'raw', 'bearer'] : [];
    this.#forms = [...new Set([this.#form, ...others])];
  }

  /**
   * Sends a request with the key in its place, and again in other forms if the key is refused before anything has worked.
   *
   * @param name distinguishes the request from those of other jobs
   * @param look makes a free request, so that a submission is repeated only in an accepted form
   */
  async send<T>(
    place: KeyPlace,
    signal: AbortSignal,
    ask: (headers: Headers) => Promise<ServiceResult<T>>,
    name: () => string = () => '',
    look?: (headers: Headers) => Promise<ServiceResult<unknown>>,
  ): Promise<ServiceResult<T>> {
    const form = this.#form;
    const result = await ask(this.#headers(place, form));
    if (!isRefused(result)) return this.#noted(place, result);
    if (this.#worked.has(place)) return result;
    if (place === 'image' && this.#forms.length > 1) {
      // Of several requests that are refused at once, one tries the other forms.
      while (this.#search !== undefined && !signal.aborted) await unlessAborted(this.#search, signal);
      if (this.#form !== form) return this.#noted(place, await ask(this.#headers(place, this.#form)));
      if (!this.#isSearched && !signal.aborted) {
        const search = this.#tryOthers(form, result.error, signal, ask, look);
        this.#search = search;
        const found = await search.finally(() => {
          this.#search = undefined;
        });
        if (found !== undefined) return this.#noted(place, found);
      }
    }
    return { ...result, error: this.#explained(place, result.error, name) };
  }

  /** @returns the result in another form; undefined if all are refused */
  async #tryOthers<T>(
    form: Form,
    { status }: ServiceFailure,
    signal: AbortSignal,
    ask: (headers: Headers) => Promise<ServiceResult<T>>,
    look?: (headers: Headers) => Promise<ServiceResult<unknown>>,
  ): Promise<ServiceResult<T> | undefined> {
    for (const other of this.#forms) {
      if (other === form) continue;
      const seen = await look?.(this.#headers('image', other));
      // The submission was refused, so nothing was made, and the form is still untested.
      if (seen?.ok === false && (signal.aborted || !isJudged(seen)))
        return { ok: false, error: { ...seen.error, unmade: true } };
      if (seen !== undefined && isRefused(seen)) continue;
      const result = await ask(this.#headers('image', other));
      if (isRefused(result)) continue;
      if (signal.aborted || !isJudged(result)) return result;
      this.#form = other;
      this.#onFound?.(
        `The service refused the key as ${this.#words(form)} (HTTP ${status}), but accepts it as ${this.#words(other)}, which is used for the rest of this run. To use it from the start, write ${this.#setting(other)}.`,
      );
      return result;
    }
    this.#isSearched = true;
    return undefined;
  }

  #noted<T>(place: KeyPlace, result: ServiceResult<T>): ServiceResult<T> {
    if (result.ok) this.#worked.add(place);
    return result;
  }

  #explained(place: KeyPlace, error: ServiceFailure, name: () => string): ServiceFailure {
    const advice = this.#advice(place);
    const isMute = error.status === 403 && error.serviceMessage === undefined;
    if (!isMute) return advice === '' ? error : { ...error, message: `${error.message} ${advice}` };
    const empty = this.#empty.get(place) ?? { times: 0, requests: new Set() };
    this.#empty.set(place, empty);
    empty.times += 1;
    if (empty.requests.size < maxEmpty) empty.requests.add(name());
    const isCertain = empty.requests.size >= maxEmpty || empty.times >= maxEmptyAgain;
    // The general words about a 403 are about the prompt.
    const [said] = error.message.split(/(?<=HTTP 403)/);
    const message = `${said} without a word, as for a key that is refused. Check that it is right, complete and still valid. ${advice}`;
    // Until it is certain, no job fails for it: the request is retried later, behind the others.
    const { about: _, ...later } = error;
    return isCertain
      ? { ...error, code: 'service.unauthorized', class: 'stop', about: 'key', message }
      : { ...later, class: 'throttle', message };
  }

  #advice(place: KeyPlace): string {
    if (this.#auth === 'none')
      return 'service.auth is none: if the gateway wants a key after all, leave that out.';
    if (place === 'native')
      return this.#auth === 'header'
        ? `The key was sent in ${this.#names.keyHeader} alone, because service.auth is header.`
        : `If the gateway reads the key in ${this.#names.keyHeader} alone, write service.auth: header.`;
    if (place !== 'image') return '';
    return this.#forms.length > 1
      ? `It was tried as ${this.#forms.map((form) => this.#words(form)).join('; as ')}.`
      : `It was sent as ${this.#words(this.#form)}. If the gateway reads it elsewhere on image paths, ${this.#auth === 'raw' ? 'leave service.auth: raw out' : 'write service.auth: raw'}, or write service.names: { imageKeyHeader: NAME }.`;
  }

  #words(form: Form): string {
    const header = this.#names.imageKeyHeader;
    const words: Readonly<Record<Form, string>> = {
      both: `Authorization: Bearer with ${header} beside it`,
      bearer: 'Authorization: Bearer',
      header: `${header} alone`,
      raw: 'Authorization without Bearer',
      none: 'nothing',
    };
    return words[form];
  }

  #setting(form: Form): string {
    if (form === 'bearer') return 'service.names: { preset: midjourney-proxy, imageKeyHeader: "" }';
    return `service.auth: ${form === 'both' ? 'bearer' : form}`;
  }

  #headers(place: KeyPlace, image: Form): Headers {
    const key = this.#apiKey;
    const bearer = { authorization: `Bearer ${key}` };
    if (key === '') return {};
    if (place === 'native' && this.#auth === 'header') return { [this.#names.keyHeader]: key };
    if (place !== 'image') return bearer;
    const inHeader = { [this.#names.imageKeyHeader.toLowerCase()]: key };
    const headers: Readonly<Record<Form, Headers>> = {
      both: { ...bearer, ...inHeader },
      bearer,
      header: inHeader,
      raw: { authorization: key },
      none: {},
    };
    return headers[image];
  }
}

/** Other meanings of a 401 or 403: an empty account, and a gateway without a list of tasks, each of which is then fetched by itself. */
const otherwise: ReadonlySet<string> = new Set(['service.quota', 'service.no-listing']);

type Refused = { readonly ok: false; readonly error: ServiceFailure };

/** Whether the key is refused, or may be. A 403 with words is about the key only if they say so; possibly finished work does not count. */
const isRefused = (result: ServiceResult<unknown>): result is Refused => {
  if (result.ok) return false;
  const { status, code, class: met, about, serviceMessage } = result.error;
  if (met === 'lost' || otherwise.has(code)) return false;
  return status === 401 || (status === 403 && (about === 'key' || serviceMessage === undefined));
};

/** Whether a service has read the request, and so its key. A passing status may come from a proxy in front of it. */
const isJudged = (result: ServiceResult<unknown>): boolean =>
  result.ok ||
  (result.error.status !== undefined && result.error.status < 500 && !isPassingStatus(result.error.status));

async function unlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const over = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
  });
  // The searching request receives the failure itself.
  await Promise.race([promise.catch(() => {}), aborted]);
  over.abort();
}
