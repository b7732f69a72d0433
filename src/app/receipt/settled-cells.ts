import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeWhole } from '../../manifest/whole-file.ts';
import type { Cell } from '../../plan/cell.ts';
import { cellIdentity } from '../../plan/key.ts';
import { checkFile } from '../../state/files/plain-path.ts';

/** More cells are not noted: 8 bytes of each are in memory together. */
const mostCells = 4_000_000;

/** Bytes of a cell's identity, so that a changed cell is taken for the one before once in 10^19 times. */
const width = 8;

/** What stands for a cell in which a run may have something to do. */
const open = '00'.repeat(width);

const markOf = ({ vars, repeat }: Cell): string => cellIdentity(vars, repeat).slice(0, 2 * width);

/** The cells of a plan by their numbers: their values, where all their slots are done or skipped. */
export class SettledCells {
  readonly #marks: Buffer;
  /** What was found out of each cell of the plan that is compared: a run asks twice. */
  readonly #found: Uint8Array;

  constructor(marks: Buffer) {
    this.#marks = marks;
    this.#found = new Uint8Array(this.count);
  }

  /** How many cells the plan had, settled or not. */
  get count(): number {
    return this.#marks.length / width;
  }

  /** Hexadecimal. */
  markAt(number: number): string {
    return this.#marks.toString('hex', (number - 1) * width, number * width);
  }

  /** Whether the cell with this number had these values, and nothing was left to do in it. Always asked of the cells of one plan. */
  has(cell: Cell): boolean {
    const { number } = cell;
    if (number > this.count) return false;
    const found = this.#found[number - 1];
    if (found !== 0) return found === 1;
    const mark = this.markAt(number);
    const has = mark !== open && mark === markOf(cell);
    this.#found[number - 1] = has ? 1 : 2;
    return has;
  }
}

/** Notes cells in the order of their numbers, while a manifest lists them. */
export class CellWatch {
  #marks: Buffer | undefined = Buffer.alloc(1024 * width);
  #count = 0;

  readonly onCell = (cell: Cell, isSettled: boolean): void =>
    this.#note(cell.number, isSettled ? markOf(cell) : open);

  /** A cell that is settled as it was. */
  keep(settled: SettledCells, number: number): void {
    this.#note(number, settled.markAt(number));
  }

  #note(number: number, mark: string): void {
    // A part of the plan says nothing about the others.
    if (this.#marks === undefined || number !== this.#count + 1 || number > mostCells) {
      this.#marks = undefined;
      return;
    }
    const at = this.#count * width;
    if (at === this.#marks.length) {
      const grown = Buffer.alloc(2 * at);
      this.#marks.copy(grown);
      this.#marks = grown;
    }
    this.#marks.write(mark, at, 'hex');
    this.#count = number;
  }

  /**
   * Writes the cells into a file, if there is one for each of `cells`.
   *
   * @returns SHA-256 of the file, hexadecimal
   */
  async write(file: string, cells: number): Promise<string | undefined> {
    if (this.#marks === undefined || this.#count !== cells || cells === 0) return undefined;
    const marks = this.#marks.subarray(0, cells * width);
    await writeWhole(file, [marks]);
    return createHash('sha256').update(marks).digest('hex');
  }
}

/** The cells in a file; undefined where it is not the file with this hash. */
export function readSettledCells(file: string, sha256: string): SettledCells | undefined {
  try {
    if (!checkFile(file)) return undefined;
    const marks = readFileSync(file);
    const isWhole = createHash('sha256').update(marks).digest('hex') === sha256 && marks.length % width === 0;
    return isWhole ? new SettledCells(marks) : undefined;
  } catch {
    return undefined;
  }
}

/** The cells that are not settled. */
export async function* openCells(cells: AsyncIterable<Cell>, settled: SettledCells): AsyncGenerator<Cell> {
  for await (const cell of cells) if (!settled.has(cell)) yield cell;
}
