import type { ServiceResult } from '../result.ts';

/** This many in a row are no accident of a proxy: the address now leads elsewhere. */
const mostInARow = 10;

/**
 * What is known of an endpoint. `right`: it has answered well. `lost`: it had, and ten answers in a row are not the service's.
 * It never has in this run: `elsewhere`: another endpoint of the address has, and no earlier run was answered, or ten answers in a row are
 * not the service's while others are; `untried`: another has, and an earlier run was answered, perhaps by this one; `before`: none has, and an earlier run was answered; `unknown`: nothing ever has.
 */
export type Standing = 'right' | 'lost' | 'elsewhere' | 'untried' | 'before' | 'unknown';

interface Endpoint {
  hasResponded: boolean;
  /** Responses in a row that speak for a wrong address. */
  strange: number;
  /** Another endpoint has answered well after the first of these: the address was there all the while. */
  wasAlone: boolean;
}

/**
 * What an address and its endpoints have answered so far: one for both halves of a service. A page, a redirect or a missing path means a
 * wrong address where nothing has answered well, and a kind of request that is not offered where other endpoints have. Of an endpoint
 * that has itself, or may have in an earlier run, something between us and the service had a bad moment (a proxy that is restarted, a
 * login page of a network), unless it is kept up.
 */
export class KnownEndpoints {
  readonly #endpoints = new Map<string, Endpoint>();
  #answeredBefore: boolean;
  /** The address has given an answer in HTTP, of any status. */
  hasSpokenHttp = false;
  /** A task of it has shown buttons, in this run or an earlier one. */
  showsButtons: boolean;
  #hasAnswered = false;

  /**
   * @param answeredBefore whether the address has answered well in an earlier run, with the same names and auth
   * @param showsButtons whether it has shown buttons then
   */
  constructor({
    answeredBefore = false,
    showsButtons = false,
  }: { readonly answeredBefore?: boolean; readonly showsButtons?: boolean } = {}) {
    this.#answeredBefore = answeredBefore;
    this.showsButtons = showsButtons;
  }

  /** Whether the address has answered well in this run. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Whether it has answered well, in this run or an earlier one, or another process. */
  get everAnswered(): boolean {
    return this.#hasAnswered || this.#answeredBefore;
  }

  /** The address has answered another process well, or an earlier run. */
  onAnsweredElsewhere(): void {
    this.#answeredBefore = true;
  }

  standing(endpoint: string): Standing {
    const { hasResponded, strange, wasAlone } = this.#of(endpoint);
    if (hasResponded) return strange + 1 < mostInARow ? 'right' : 'lost';
    if (!this.#hasAnswered) return this.#answeredBefore ? 'before' : 'unknown';
    const isMissing = strange + 1 >= mostInARow && wasAlone;
    return this.#answeredBefore && !isMissing ? 'untried' : 'elsewhere';
  }

  note(endpoint: string, result: ServiceResult<unknown>): void {
    const known = this.#of(endpoint);
    if (result.ok) {
      known.hasResponded = true;
      known.strange = 0;
      known.wasAlone = false;
      // Any key may list the models, and a console may answer for them.
      if (endpoint === 'models') return;
      this.#hasAnswered = true;
      for (const other of this.#endpoints.values()) other.wasAlone ||= other.strange > 0;
    } else if (result.error.wrongAddress === true) known.strange += 1;
  }

  #of(name: string): Endpoint {
    const known = this.#endpoints.get(name);
    if (known !== undefined) return known;
    const endpoint: Endpoint = { hasResponded: false, strange: 0, wasAlone: false };
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }
}
