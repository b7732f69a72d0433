import type { ServiceResult } from '../result.ts';

/** This many in a row are no accident of a proxy: the address now leads elsewhere. */
const mostInARow = 10;

interface Endpoint {
  hasResponded: boolean;
  /** Responses in a row that speak for a wrong address. */
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
    const { hasResponded, strange } = this.#of(endpoint);
    return hasResponded && strange + 1 < mostInARow;
  }

  /** True where the endpoint has responded well in this run, even if it fails now. */
  hasResponded(endpoint: string): boolean {
    return this.#of(endpoint).hasResponded;
  }

  note(endpoint: string, result: ServiceResult<unknown>): void {
    const known = this.#of(endpoint);
    if (result.ok) {
      known.hasResponded = true;
      known.strange = 0;
    } else if (result.error.wrongAddress === true) known.strange += 1;
  }

  #of(name: string): Endpoint {
    const known = this.#endpoints.get(name);
    if (known !== undefined) return known;
    const endpoint = { hasResponded: false, strange: 0 };
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }
}
