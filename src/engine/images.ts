import type { ImageFile, ImageFiles } from '../plan/request/image-files.ts';
import type { EnginePool } from './postgres/pool.ts';

/** Files that are known to be right at the same time; of a file that is forgotten it is asked again. */
const mostRight = 20_000;

/**
 * The files that requests show, as a worker of a run has them: each must be what the coordinator has registered, or, where it could not know
 * the path, the first worker that read it in this invocation. A file that is another one here would silently make another job of it.
 */
export class SharedImages implements ImageFiles {
  readonly #own: ImageFiles;
  readonly #pool: EnginePool;
  readonly #run: number;
  #invocation: number | undefined;
  readonly #asked = new Set<string>();
  readonly #right = new Set<string>();
  readonly #wrong = new Map<string, ImageFile>();
  #lacked: string | undefined;

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
    if (wrong !== undefined) {
      this.#lacked = path;
      return wrong;
    }
    if (this.#invocation !== undefined && !this.#right.has(path)) this.#asked.add(path);
    return this.#own.facts(path);
  }

  /** A file that was asked for since this was asked last, and that the run has as another one, or that is not here. */
  takeLacked(): string | undefined {
    const lacked = this.#lacked;
    this.#lacked = undefined;
    return lacked;
  }

  /** @returns whether a file is not what it was taken for @throws EngineError */
  async loadMissed(): Promise<boolean> {
    if (this.#invocation === undefined || this.#asked.size === 0) return false;
    const paths = [...this.#asked];
    const files = paths.flatMap((path) => {
      const file = this.#own.facts(path);
      return 'error' in file ? [] : [{ path, sha256: file.sha256, bytes: file.bytes }];
    });
    const first = await this.#recorded(files, paths, this.#invocation);
    if (this.#right.size > mostRight) this.#right.clear();
    let isWrong = false;
    const own = new Map(files.map(({ path, sha256 }) => [path, sha256]));
    for (const path of paths) {
      const sha256 = own.get(path);
      if ((first.get(path) ?? sha256) === sha256) {
        if (sha256 !== undefined) this.#right.add(path);
        continue;
      }
      isWrong = true;
      const message =
        sha256 === undefined
          ? `${JSON.stringify(path)}, which the run has, cannot be used on this machine: ${errorIn(this.#own.facts(path))}`
          : `${JSON.stringify(path)} is not the file that the run has: its content differs on this machine.`;
      this.#wrong.set(path, { error: { code: 'input.differs', message } });
    }
    for (const path of paths) this.#asked.delete(path);
    return isWrong;
  }

  /** The hash of each file as it was registered; those that nobody has registered are from here. */
  async #recorded(
    files: readonly { readonly path: string; readonly sha256: string; readonly bytes: number }[],
    paths: readonly string[],
    invocation: number,
  ): Promise<ReadonlyMap<string, string>> {
    const ordered = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    if (ordered.length > 0)
      await this.#pool.query(
        `INSERT INTO promptpress.inputs AS i (run, path, sha256, bytes, mtime, invocation)
       SELECT $1, f.path, f.sha256, f.bytes, 0, $3 FROM json_to_recordset($2) AS f(path text, sha256 text, bytes bigint)
       ON CONFLICT (run, path) DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes, invocation = excluded.invocation
       WHERE i.invocation < excluded.invocation`,
        [this.#run, JSON.stringify(ordered), invocation],
      );
    const { rows } = await this.#pool.query<{ path: string; sha256: string }>(
      'SELECT path, sha256 FROM promptpress.inputs WHERE run = $1 AND path = ANY($2) AND invocation = $3',
      [this.#run, paths, invocation],
    );
    return new Map(rows.map(({ path, sha256 }) => [path, sha256]));
  }
}

const errorIn = (file: ImageFile): string => ('error' in file ? file.error.message : '');

/**
 * Registers the files that cells show before it gives these cells, so that no worker decides what they are.
 *
 * @param resolve a cell as far as it is known without records
 */
export async function* registered<Cell>(
  cells: AsyncIterable<Cell>,
  resolve: (cell: Cell) => unknown,
  images: SharedImages,
): AsyncGenerator<Cell> {
  let group: Cell[] = [];
  for await (const cell of cells) {
    resolve(cell);
    group.push(cell);
    if (group.length < cellsAtOnce) continue;
    await images.loadMissed();
    yield* group;
    group = [];
  }
  await images.loadMissed();
  yield* group;
}

/** Cells whose files are registered together. */
const cellsAtOnce = 64;
