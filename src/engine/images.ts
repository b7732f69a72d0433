import type { ImageFile, ImageFiles } from '../plan/request/image-files.ts';
import type { EnginePool } from './postgres/pool.ts';

/** Files that are known to be right at the same time; of a file that is forgotten it is asked again. */
const mostRight = 20_000;

/**
 * The files that requests show, as a worker of a run has them: each must be what the first worker found that read it in this invocation. A
 * file that is another one here would silently make another job of it.
 */
export class SharedImages implements ImageFiles {
  readonly #own: ImageFiles;
  readonly #pool: EnginePool;
  readonly #run: number;
  #invocation: number | undefined;
  readonly #asked = new Set<string>();
  readonly #right = new Set<string>();
  readonly #wrong = new Map<string, ImageFile>();

  /** @param own as they lie on this machine; it knows them without loading */
  constructor(own: ImageFiles, pool: EnginePool, run: number) {
    this.#own = own;
    this.#pool = pool;
    this.#run = run;
  }

  /** From here on they are compared. */
  begin(invocation: number): void {
    this.#invocation = invocation;
  }

  facts(path: string): ImageFile {
    const wrong = this.#wrong.get(path);
    if (wrong !== undefined) return wrong;
    if (this.#invocation !== undefined && !this.#right.has(path)) this.#asked.add(path);
    return this.#own.facts(path);
  }

  /** @returns whether a file is not what it was taken for @throws EngineError */
  async loadMissed(): Promise<boolean> {
    if (this.#invocation === undefined || this.#asked.size === 0) return false;
    const paths = [...this.#asked];
    const files = paths.flatMap((path) => {
      const file = this.#own.facts(path);
      return 'error' in file ? [] : [{ path, sha256: file.sha256, bytes: file.bytes }];
    });
    const first = await this.#recorded(files, this.#invocation);
    if (this.#right.size > mostRight) this.#right.clear();
    let isWrong = false;
    for (const { path, sha256 } of files) {
      if ((first.get(path) ?? sha256) === sha256) {
        this.#right.add(path);
        continue;
      }
      isWrong = true;
      const message = `${JSON.stringify(path)} is not the file that other workers of this run have: its content differs on this machine.`;
      this.#wrong.set(path, { error: { code: 'input.differs', message } });
    }
    for (const path of paths) this.#asked.delete(path);
    return isWrong;
  }

  /** The hash of each file as the first worker found it. */
  async #recorded(
    files: readonly { readonly path: string; readonly sha256: string; readonly bytes: number }[],
    invocation: number,
  ): Promise<ReadonlyMap<string, string>> {
    if (files.length === 0) return new Map();
    const ordered = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    await this.#pool.query(
      `INSERT INTO promptpress.inputs AS i (run, path, sha256, bytes, mtime, invocation)
       SELECT $1, f.path, f.sha256, f.bytes, 0, $3 FROM json_to_recordset($2) AS f(path text, sha256 text, bytes bigint)
       ON CONFLICT (run, path) DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes, invocation = excluded.invocation
       WHERE i.invocation < excluded.invocation`,
      [this.#run, JSON.stringify(ordered), invocation],
    );
    const { rows } = await this.#pool.query<{ path: string; sha256: string }>(
      'SELECT path, sha256 FROM promptpress.inputs WHERE run = $1 AND path = ANY($2)',
      [this.#run, ordered.map(({ path }) => path)],
    );
    return new Map(rows.map(({ path, sha256 }) => [path, sha256]));
  }
}
