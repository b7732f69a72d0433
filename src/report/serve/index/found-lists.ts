/** The results of a query, by their ids. */
interface FoundList {
  readonly ids: Float64Array;
  readonly version: number;
  /** When it was complete, and how long that took; ms. */
  readonly at: number;
  readonly took: number;
}

interface Finding {
  readonly list: Promise<FoundList>;
  /** How many wait for it. */
  waiting: number;
}

/** Lists that are kept: going through the pages of one searches once. Of a million results each takes 8 MB at most. */
const kept = 8;

/** A list that took long is used for as many times that long, also where results have changed since: else a run would have it made all the time. */
const lasts = 10;

/** Thrown within a search that nobody waits for any more. */
export class Abandoned extends Error {}

/** The results of a query as somebody who asks gets them. */
export interface FoundIds {
  readonly ids: Float64Array;
  /** The list is of before the last change, and lasts for so many ms more; absent: it is the latest. */
  readonly again?: number;
}

/** What queries found, each searched for once however many ask for it. */
export class FoundLists {
  readonly #lists = new Map<string, FoundList>();
  readonly #finding = new Map<string, Finding>();
  readonly #elapsed: () => number;

  /** @param elapsed ms since some moment */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /**
   * @param name of the query
   * @param version of the index: what it is now
   * @param find calls its argument between steps
   * @param signal aborted where the asker has gone
   * @throws Abandoned where all askers have gone
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

  /** For how many ms more a list is used. */
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
        // It begins when those who ask are counted.
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
