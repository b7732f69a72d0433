import type { ServiceResult } from '../result.ts';

/** Unexpected answers in a row after which the address counts as wrong: a faulty proxy would cause fewer. */
const maxInARow = 10;

/**
 * What is known of an endpoint. `right`: it has answered well. `lost`: it had, but its last ten answers were not the service's. The
 * others never answered well in this run. `elsewhere`: other endpoints did, and no earlier run, or ten answers in a row were not the
 * service's. `untried`: other endpoints did, and an earlier run. `before`: only an earlier run got answers. `unknown`: none did.
 */
export type Standing = 'right' | 'lost' | 'elsewhere' | 'untried' | 'before' | 'unknown';

interface Endpoint {
  hasResponded: boolean;
  /** Responses in a row that suggest a wrong address. */
  strange: number;
  /** Another endpoint has answered well after the first of these: the address was there all the while. */
  wasAlone: boolean;
}

/**
 * What an address and its endpoints have answered so far, shared by both halves of a service. A page, a redirect or a missing path
 * means a wrong address where nothing has answered well, and a kind of request that is not offered where only other endpoints have.
 * From an endpoint that has answered well, perhaps in an earlier run, it means a passing fault between us and the service (a restarted
 * proxy, a login page), unless it persists.
 */
export class KnownEndpoints {
  readonly #endpoints = new Map<string, Endpoint>();
  #answeredBefore: boolean;
  /** Whether the address has answered in HTTP, with any status. */
  hasSpokenHttp = false;
  /** Whether a task has shown buttons, in this run or an earlier one. */
  showsButtons: boolean;
  #hasAnswered = false;

  /**
   * @param answeredBefore whether the address has answered well in an earlier run, with the same names and auth
   * @param showsButtons whether it showed buttons in an earlier run
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

  /** Whether the address has answered well in this run, an earlier run or another process. */
  get everAnswered(): boolean {
    return this.#hasAnswered || this.#answeredBefore;
  }

  /** Notes that the address has answered another process, or an earlier run, well. */
  onAnsweredElsewhere(): void {
    this.#answeredBefore = true;
  }

  standing(endpoint: string): Standing {
    const { hasResponded, strange, wasAlone } = this.#of(endpoint);
    if (hasResponded) return strange + 1 < maxInARow ? 'right' : 'lost';
    if (!this.#hasAnswered) return this.#answeredBefore ? 'before' : 'unknown';
    const isMissing = strange + 1 >= maxInARow && wasAlone;
    return this.#answeredBefore && !isMissing ? 'untried' : 'elsewhere';
  }

  note(endpoint: string, result: ServiceResult<unknown>): void {
    const known = this.#of(endpoint);
    if (result.ok) {
      known.hasResponded = true;
      known.strange = 0;
      known.wasAlone = false;
      // Any key may list the models, and a console may answer in place of the service.
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
