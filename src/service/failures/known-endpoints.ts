import type { Answer } from '../result.ts';

/** So many in a row are no slip of a proxy: the address leads elsewhere now. */
const mostInARow = 10;

interface Endpoint {
  hasAnswered: boolean;
  /** Answers in a row that speak for a wrong address. */
  strange: number;
}

/**
 * What the endpoints of a service have answered so far. A page, a redirect or a plain-text 404 means a wrong address where an
 * endpoint has never answered well; where it has, something between us and the service had a bad moment (a proxy that is
 * restarted, a login page of a network, a page of a content delivery network), unless it is kept up.
 */
export class KnownEndpoints {
  readonly #endpoints = new Map<string, Endpoint>();

  /** True where one more such answer is a passing failure. */
  isRight(endpoint: string): boolean {
    const { hasAnswered, strange } = this.#of(endpoint);
    return hasAnswered && strange + 1 < mostInARow;
  }

  /** True where it has answered well in this run, whatever it answers now. */
  hasAnswered(endpoint: string): boolean {
    return this.#of(endpoint).hasAnswered;
  }

  note(endpoint: string, answer: Answer<unknown>): void {
    const known = this.#of(endpoint);
    if (answer.ok) {
      known.hasAnswered = true;
      known.strange = 0;
    } else if (answer.error.wrongAddress === true) known.strange += 1;
  }

  #of(name: string): Endpoint {
    const known = this.#endpoints.get(name);
    if (known !== undefined) return known;
    const endpoint = { hasAnswered: false, strange: 0 };
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }
}
