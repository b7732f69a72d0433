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

/** Number of refusals without words after which the key is at fault. */
const maxMute = 6;

/** Decides where the key stands in requests, and says of a refused key what to check. */
export class KeyForms {
  readonly #apiKey: string;
  readonly #names: Names;
  readonly #auth: Auth;
  readonly #form: Form;
  /** Places where a request has succeeded. */
  readonly #worked = new Set<KeyPlace>();
  /** Number of refusals without words. */
  readonly #mute = new Map<KeyPlace, number>();

  /** @param apiKey empty: no key */
  constructor(apiKey: string, names: Names, auth: Auth) {
    this.#apiKey = apiKey;
    this.#names = names;
    this.#auth = auth;
    const hasHeader = names.imageKeyHeader !== '';
    this.#form = !hasHeader && auth === 'header' ? 'bearer' : hasHeader && auth === 'bearer' ? 'both' : auth;
  }

  /** Sends a request with the key in its place. */
  async send<T>(
    place: KeyPlace,
    ask: (headers: Headers) => Promise<ServiceResult<T>>,
  ): Promise<ServiceResult<T>> {
    const result = await ask(this.#headers(place));
    if (result.ok) this.#worked.add(place);
    if (this.#worked.has(place) || !isRefused(result)) return result;
    return { ...result, error: this.#explained(place, result.error) };
  }

  #explained(place: KeyPlace, error: ServiceFailure): ServiceFailure {
    const advice = this.#advice(place);
    const isMute = error.status === 403 && error.serviceMessage === undefined;
    if (!isMute) return advice === '' ? error : { ...error, message: `${error.message} ${advice}` };
    const times = (this.#mute.get(place) ?? 0) + 1;
    this.#mute.set(place, times);
    // The general words about a 403 are about the prompt.
    const [said] = error.message.split(/(?<=HTTP 403)/);
    const message = `${said} without a word, as for a key that is refused. Check that it is right, complete and still valid. ${advice}`;
    // Until it is certain, no job fails for it: the request is retried later, behind the others.
    const { about: _, ...later } = error;
    return times >= maxMute
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
    const { imageKeyHeader: header } = this.#names;
    const words: Readonly<Record<Form, string>> = {
      both: `Authorization: Bearer with ${header} beside it`,
      bearer: 'Authorization: Bearer',
      header: `${header} alone`,
      raw: 'Authorization without Bearer',
      none: 'nothing',
    };
    const others = (['bearer', 'header', 'raw'] as const).filter((auth) => auth !== this.#auth);
    const settings =
      header === ''
        ? `${this.#auth === 'raw' ? 'leave service.auth: raw out' : 'write service.auth: raw'}, or write service.names: { imageKeyHeader: NAME }`
        : `try ${others.map((auth) => `service.auth: ${auth}`).join(', ')}, or an empty imageKeyHeader in service.names`;
    return `It was sent as ${words[this.#form]}. If the gateway reads it elsewhere on image paths, ${settings}.`;
  }

  #headers(place: KeyPlace): Headers {
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
    return headers[this.#form];
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
