import { Turns } from '../pipeline/turns.ts';
import type { JobError } from '../plan/job.ts';
import type { ImageFile, ImageFiles } from '../plan/request/image-files.ts';
import { inGroups } from '../plan/resolve/load-records.ts';
import type { EnginePool } from './postgres/pool.ts';
import { wantedFiles } from './slices/lacks.ts';

/** Number of known files after which the least recently used ones are forgotten and read again on demand. */
const maxKnown = 50_000;
/** Longest path in bytes. A path is the key of a row, and may come from a model's reply. */
const longestPath = 1024;
/** Largest number of files served at a time. */
const maxServed = 256;

/** A file that a run needs, as registered by its coordinator. */
export interface RegisteredFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

interface Row extends RegisteredFile {
  /** Error of a file that the coordinator cannot use: a code and a message. With neither this nor a hash, the file is not known yet. */
  readonly error: string | null;
  /** True where a copy lies in the shared place of the run. */
  readonly shared: boolean;
}

/**
 * The images of requests, the same for all processes of a run. Only the coordinator decides what a file is, from the files on its machine;
 * a worker asks it about paths that only a reply contains. A file that is neither here with that content nor in the shared place of the run
 * is `unread`, so that no request is made with it.
 */
export class SharedImages implements ImageFiles {
  readonly #own: { facts(path: string): ImageFile };
  readonly #pool: EnginePool;
  readonly #run: number;
  readonly #leads: boolean;
  #invocation: number | undefined;
  #isOver = false;
  readonly #asked = new Set<string>();
  #known = new Map<string, ImageFile>();
  /** Older part of the cache of known files. */
  #older: ReadonlyMap<string, ImageFile> = new Map();
  /** Files that cannot be used on this machine, as the run knows them; undefined where the coordinator has not described them. */
  readonly #lacking = new Map<string, ImageFile | undefined>();
  readonly #unread = new Set<string>();
  readonly #notServed = new Set<string>();
  /** Number of times that a file became known. */
  #learned = 0;
  #loading: Promise<void> = Promise.resolve();

  /**
   * @param own facts of the files on this machine, without loading them
   * @param leads true where this process describes the files
   */
  constructor(own: { facts(path: string): ImageFile }, pool: EnginePool, run: number, leads: boolean) {
    this.#own = own;
    this.#pool = pool;
    this.#run = run;
    this.#leads = leads;
  }

  /** Sets the invocation that the files belong to. */
  begin(invocation: number): void {
    this.#invocation = invocation;
  }

  /** Ends the run: nothing more is sent, and files that are not here count as the run knows them. */
  end(): void {
    this.#isOver = true;
  }

  facts(path: string): ImageFile | 'unread' {
    if (this.#invocation === undefined) return this.#own.facts(path);
    const known = this.#known.get(path) ?? this.#older.get(path) ?? unnameable(path);
    if (known !== undefined) return known;
    const lacking = this.#lacking.get(path);
    if (this.#isOver && lacking !== undefined) return lacking;
    if (this.#isOver || !this.#lacking.has(path)) this.#asked.add(path);
    if (!this.#isOver) this.#unread.add(path);
    return 'unread';
  }

  /** Returns the files that were `unread` since the last call, with their hashes where known. */
  takeUnread(): readonly { readonly path: string; readonly sha256: string }[] {
    const unread = [...this.#unread].map((path) => {
      const file = this.#lacking.get(path);
      return { path, sha256: file !== undefined && 'sha256' in file ? file.sha256 : '' };
    });
    this.#unread.clear();
    return unread;
  }

  /** Forgets a file that may be usable now: it is read again. */
  forget(path: string): void {
    this.#lacking.delete(path);
  }

  /** Loads the files that were asked for and unknown. @returns whether more is known than before @throws EngineError */
  async loadMissed(): Promise<boolean> {
    const before = this.#learned;
    // A load by another caller may not include what was asked for here.
    const loading = this.#loading.then(() => this.#load());
    this.#loading = loading.catch(() => undefined);
    await loading;
    return this.#learned > before;
  }

  async #load(): Promise<void> {
    const invocation = this.#invocation;
    if (invocation === undefined || this.#asked.size === 0) return;
    const paths = [...this.#asked].sort();
    this.#asked.clear();
    if (this.#known.size > maxKnown) {
      this.#older = this.#known;
      this.#known = new Map();
    }
    const rows = await this.#rows(paths, invocation);
    const open = paths.filter((path) => {
      const row = rows.get(path);
      return row === undefined || (this.#leads && fileOf(row) === undefined);
    });
    if (open.length > 0) {
      await this.#register(open, invocation);
      for (const [path, row] of await this.#rows(open, invocation)) rows.set(path, row);
    }
    for (const path of paths) this.#note(path, rows.get(path));
  }

  /**
   * As the coordinator: describes files that workers ask for, and copies those they lack into the shared place.
   *
   * @param copy resolves to false where it never copies a file @throws EngineError; any error thrown by `copy`
   */
  async serve(copy: (file: RegisteredFile) => Promise<boolean>): Promise<void> {
    const invocation = this.#invocation;
    if (invocation === undefined) return;
    if (this.#notServed.size > maxKnown) this.#notServed.clear();
    const wanted = await wantedFiles(this.#pool, this.#run, [...this.#notServed], maxServed);
    for (const { path, sha256 } of wanted)
      if (sha256 === '') {
        this.#lacking.delete(path);
        this.#asked.add(path);
      }
    await this.loadMissed();
    for (const file of wanted) {
      if (file.sha256 === '') continue;
      if (this.#isHere(file) && (await copy(file)))
        await this.#pool.query(
          'UPDATE promptpress.inputs SET shared = true WHERE run = $1 AND path = $2 AND sha256 = $3',
          [this.#run, file.path, file.sha256],
        );
      else this.#notServed.add(file.path);
    }
  }

  #note(path: string, row: Row | undefined): void {
    const file = row && fileOf(row);
    const isUsable =
      row !== undefined &&
      file !== undefined &&
      ('error' in file || row.shared || this.#isOver || this.#isHere(row));
    if (!isUsable) {
      this.#lacking.set(path, file);
      return;
    }
    this.#known.set(path, file);
    this.#learned += 1;
  }

  #isHere({ path, sha256 }: RegisteredFile): boolean {
    const own = this.#own.facts(path);
    return 'sha256' in own && own.sha256 === sha256;
  }

  /** Registers files: the coordinator describes them, a worker asks for them. The first description of a file counts. */
  async #register(paths: readonly string[], invocation: number): Promise<void> {
    const rows = paths.map((path) => {
      const file = this.#leads ? this.#own.facts(path) : nothingSaid;
      return 'error' in file
        ? { path, ...nothingSaid, error: `${file.error.code} ${file.error.message}` }
        : { path, sha256: file.sha256, bytes: file.bytes };
    });
    await this.#pool.query(
      `INSERT INTO promptpress.inputs AS i (run, path, sha256, bytes, error, mtime, invocation)
       SELECT $1, f.path, f.sha256, f.bytes, f.error, 0, $3 FROM json_to_recordset($2) AS f(path text, sha256 text, bytes bigint, error text)
       ON CONFLICT (run, path) DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes, error = excluded.error, shared = false,
         invocation = excluded.invocation
       WHERE i.invocation < excluded.invocation OR (i.sha256 = '' AND i.error IS NULL)`,
      [this.#run, JSON.stringify(rows), invocation],
    );
  }

  async #rows(paths: readonly string[], invocation: number): Promise<Map<string, Row>> {
    const { rows } = await this.#pool.query<Row>(
      `SELECT path, sha256, bytes::float8 AS bytes, error, shared FROM promptpress.inputs
       WHERE run = $1 AND path = ANY($2) AND invocation = $3`,
      [this.#run, paths, invocation],
    );
    return new Map(rows.map((row) => [row.path, row]));
  }
}

const nothingSaid = { sha256: '', bytes: 0 };

/** Undefined where the coordinator has not described the file. */
function fileOf({ sha256, bytes, error }: Row): ImageFile | undefined {
  const at = error?.indexOf(' ') ?? 0;
  if (error !== null)
    return { error: { code: error.slice(0, at) as JobError['code'], message: error.slice(at + 1) } };
  return sha256 === '' ? undefined : { sha256, bytes };
}

/** The result for a path that a run on an engine cannot use; undefined where it can. */
const unnameable = (path: string): ImageFile | undefined =>
  Buffer.byteLength(path) <= longestPath && !path.includes('\0')
    ? undefined
    : {
        error: {
          code: 'input.missing',
          message: `The image ${path.slice(0, 200).replaceAll('\0', '?')} has a path of more than ${longestPath} bytes, or an invalid one.`,
        },
      };

/** Number of cells whose files are registered together. */
const cellsAtOnce = 64;

/**
 * Registers the files of cells before it yields these cells.
 *
 * @param resolve resolves a cell as far as possible without records
 */
export async function* registered<Cell>(
  cells: AsyncIterable<Cell>,
  resolve: (cell: Cell) => unknown,
  images: SharedImages,
): AsyncGenerator<Cell> {
  const turns = new Turns();
  for await (const group of inGroups(cells, cellsAtOnce)) {
    for (const cell of group) {
      resolve(cell);
      await turns.next();
    }
    await images.loadMissed();
    images.takeUnread();
    yield* group;
  }
}
