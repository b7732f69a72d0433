interface FoundList {
  readonly ids: Float64Array;
  readonly version: number;
  /** Time of completion and duration of the search, ms. */
  readonly at: number;
  readonly took: number;
}

interface Finding {
  readonly list: Promise<FoundList>;
  waiting: number;
}

/** Number of lists in the cache. A list of a million results takes at most 8 MB. */
const kept = 8;

/** A list may be used for this many times its search time after results change. Otherwise a run would cause constant searches. */
const lasts = 10;

/** Thrown within a search when all its requests have been aborted. */
export class Abandoned extends Error {}

export interface FoundIds {
  readonly ids: Float64Array;
  /** Milliseconds for which this outdated list is still used; absent if the list is current. */
  readonly again?: number;
}

/** A cache of search results. Simultaneous requests for one query share a search. */
export class FoundLists {
  readonly #lists = new Map<string, FoundList>();
  readonly #finding = new Map<string, Finding>();
  readonly #elapsed: () => number;

  /** @param elapsed milliseconds on a clock that only goes forward */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /**
   * @param name of the query
   * @param version returns the current version of the index
   * @param find searches; it calls its argument between steps
   * @param signal aborts this request
   * @throws Abandoned when all requests were aborted
   */
  async of(
    name: string,
    version: () => number,
    find: (check: () => void) => Promise<Float64Array>,
    signal: AbortSignal,
  ): Promise<FoundIds> {
    const list = this.#lists.get(name);
    if (list !== undefined && (list.version === version() || this.#lasts(list) > 0)) {
      this.#keep(name, list);
      return this.#found(list, version());
    }
    const finding = this.#finding.get(name) ?? this.#begin(name, version(), find);
    finding.waiting += 1;
    const leave = (): void => {
      finding.waiting -= 1;
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return this.#found(await finding.list, version());
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Milliseconds for which a list may still be used. */
  #lasts({ at, took }: FoundList): number {
    return at + lasts * took - this.#elapsed();
  }

  #found(list: FoundList, version: number): FoundIds {
    const { ids } = list;
    return list.version === version ? { ids } : { ids, again: Math.max(0, Math.ceil(this.#lasts(list))) };
  }

  clear(): void {
    this.#lists.clear();
  }

  #begin(name: string, version: number, find: (check: () => void) => Promise<Float64Array>): Finding {
    const began = this.#elapsed();
    const finding: { list?: Promise<FoundList>; waiting: number } = { waiting: 0 };
    const check = (): void => {
      if (finding.waiting <= 0) throw new Abandoned('Nobody waits for it.');
    };
    const search = async (): Promise<FoundList> => {
      try {
        // Starts after the first request is counted.
        await Promise.resolve();
        const ids = await find(check);
        const at = this.#elapsed();
        const list = { ids, version, at, took: at - began };
        this.#keep(name, list);
        return list;
      } finally {
        this.#finding.delete(name);
      }
    };
    const list = search();
    list.catch(() => {});
    const complete = Object.assign(finding, { list });
    this.#finding.set(name, complete);
    return complete;
  }

  #keep(name: string, list: FoundList): void {
    this.#lists.delete(name);
    this.#lists.set(name, list);
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= kept) break;
      this.#lists.delete(oldest);
    }
  }
}
